/**
 * Push seeds in batches, with several in flight, so that the next batch is prepared while the store processes one. One
 * connection preserves the order of the batches, and so the order of the input.
 */
import { InvalidRequestError } from '../../errors.js';
import {
  type Frontier,
  type FrontierRequest,
  MAX_SETTLE_BYTES,
  type PushKind,
} from '../../frontier/frontier.js';
import { requestWeight } from '../../frontier/in-chunks.js';
import type { SeedCounts, SeedText } from './seed-text.js';

const BATCH = 1_000;
/** Batches in flight. More gain nothing, as either the store or this process is then always busy. */
const IN_FLIGHT = 3;

export interface PushOptions {
  readonly kind: PushKind;
  convert(seed: SeedText): Promise<readonly FrontierRequest[]>;
  /** Called with each bad seed. */
  onBad(seed: SeedText, error: Error): void;
  /** Aborted to stop reading. Seeds that were already read are still pushed. */
  readonly stop: AbortSignal;
}

/** Push all seeds of the input, and update `counts`. @throws errors of the frontier, after all batches in flight settled. */
export async function pushSeeds(
  frontier: Pick<Frontier, 'push'>,
  lines: AsyncIterable<SeedText>,
  counts: SeedCounts,
  { kind, convert, onBad, stop }: PushOptions,
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | null = null;
  let batch: FrontierRequest[] = [];
  let bytes = 0;
  const push = async (requests: readonly FrontierRequest[]) => {
    try {
      const { accepted, duplicates } = await frontier.push(requests, kind);
      counts.accepted += accepted;
      counts.duplicates += duplicates;
    } catch (error) {
      failed ??= { error };
    }
  };
  const send = async () => {
    const sent = push(batch).then(() => void inFlight.delete(sent));
    inFlight.add(sent);
    batch = [];
    bytes = 0;
    if (inFlight.size >= IN_FLIGHT) await Promise.race(inFlight);
  };
  const addToBatch = async (requests: readonly FrontierRequest[]) => {
    for (const request of requests) {
      const size = requestWeight(request).bytes;
      if (batch.length === BATCH || (batch.length > 0 && bytes + size > MAX_SETTLE_BYTES)) await send();
      if (failed !== null) return;
      batch.push(request);
      bytes += size;
    }
  };
  try {
    for await (const line of lines) {
      let requests: readonly FrontierRequest[] = [];
      try {
        if (line.problem !== undefined) throw new InvalidRequestError(line.problem);
        requests = await convert(line);
      } catch (error) {
        counts.bad += 1;
        onBad(line, error as Error);
      }
      await addToBatch(requests);
      if (failed !== null || stop.aborted) break;
    }
    if (batch.length > 0 && failed === null) await send();
  } finally {
    await Promise.all(inFlight);
  }
  if (failed !== null) throw (failed as { readonly error: unknown }).error;
}

/** Append all seeds of the input unchanged to the start_urls key, and count them as accepted. */
export async function appendSeeds(
  frontier: Pick<Frontier, 'appendSeeds'>,
  lines: AsyncIterable<SeedText>,
  counts: SeedCounts,
  { onBad, stop }: Pick<PushOptions, 'onBad' | 'stop'>,
): Promise<void> {
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length > 0) await frontier.appendSeeds(batch);
    counts.accepted += batch.length;
    batch = [];
  };
  for await (const line of lines) {
    if (line.problem !== undefined) {
      counts.bad += 1;
      onBad(line, new InvalidRequestError(line.problem));
    } else batch.push(line.text);
    if (batch.length >= BATCH) await flush();
    if (stop.aborted) break;
  }
  await flush();
}

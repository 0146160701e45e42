/**
 * Seeds pushed in batches, several on their way at a time: while the store works on one, the next is made. On one
 * connection they arrive in the order they were sent, so the order of the input holds.
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
/** Batches on their way. More gain nothing: either the store or this process is busy all the time. */
const IN_FLIGHT = 3;

export interface PushOptions {
  readonly kind: PushKind;
  convert(seed: SeedText): Promise<readonly FrontierRequest[]>;
  /** Hears of a seed that is none. */
  onBad(seed: SeedText, error: Error): void;
  /** Aborted to end the input here; what was read is still pushed. */
  readonly stop: AbortSignal;
}

/** Push until the input ends, adding to `counts`. @throws what the frontier throws, once nothing is on its way any more. */
export async function pushSeeds(
  frontier: Pick<Frontier, 'push'>,
  lines: AsyncIterable<SeedText>,
  counts: SeedCounts,
  { kind, convert, onBad, stop }: PushOptions,
): Promise<void> {
  const flying = new Set<Promise<void>>();
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
    const sent = push(batch).then(() => void flying.delete(sent));
    flying.add(sent);
    batch = [];
    bytes = 0;
    if (flying.size >= IN_FLIGHT) await Promise.race(flying);
  };
  const take = async (requests: readonly FrontierRequest[]) => {
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
      await take(requests);
      if (failed !== null || stop.aborted) break;
    }
    if (batch.length > 0 && failed === null) await send();
  } finally {
    await Promise.all(flying);
  }
  if (failed !== null) throw (failed as { readonly error: unknown }).error;
}

/** Append raw seeds to the start_urls key until the input ends, counting them as accepted. */
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

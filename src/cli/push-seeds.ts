/**
 * Seeds pushed in batches, several on their way at a time: while the store works on one, the next is made. On one
 * connection they arrive in the order they were sent, so the order of the input holds.
 */
import type { Frontier, FrontierRequest, PushKind } from '../frontier/frontier.js';
import type { Line } from './seed-input.js';
import type { SeedCounts } from './seed-progress.js';

const BATCH = 1_000;
/** Batches on their way. More gain nothing: either the store or this process is busy all the time. */
const IN_FLIGHT = 3;

export interface PushOptions {
  readonly kind: PushKind;
  convert(text: string): Promise<readonly FrontierRequest[]>;
  /** Hears of a seed that is none. */
  onBad(line: Line, error: Error): void;
}

/** Push until the input ends, adding to `counts`. @throws what the frontier throws, once nothing is on its way any more. */
export async function pushSeeds(
  frontier: Pick<Frontier, 'push'>,
  lines: AsyncIterable<Line>,
  counts: SeedCounts,
  { kind, convert, onBad }: PushOptions,
): Promise<void> {
  const flying = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | null = null;
  const send = async (batch: readonly FrontierRequest[]) => {
    try {
      const { accepted, duplicates } = await frontier.push(batch, kind);
      counts.accepted += accepted;
      counts.duplicates += duplicates;
    } catch (error) {
      failed ??= { error };
    }
  };
  const batch: FrontierRequest[] = [];
  const flush = async (size: number) => {
    while (batch.length >= size && batch.length > 0 && failed === null) {
      const sent = send(batch.splice(0, BATCH)).then(() => void flying.delete(sent));
      flying.add(sent);
      if (flying.size >= IN_FLIGHT) await Promise.race(flying);
    }
  };
  try {
    for await (const line of lines) {
      try {
        batch.push(...(await convert(line.text)));
      } catch (error) {
        counts.bad += 1;
        onBad(line, error as Error);
      }
      await flush(BATCH);
      if (failed !== null) break;
    }
    await flush(1);
  } finally {
    await Promise.all(flying);
  }
  if (failed !== null) throw (failed as { readonly error: unknown }).error;
}

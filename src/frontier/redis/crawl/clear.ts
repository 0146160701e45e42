/** Deleting a crawl, or parts of it. */
import { dataFormats } from '../../data-format.js';
import type { Part } from '../../frontier.js';
import { nodesAtWork } from '../../refusals.js';
import type { Call } from '../connection/calls.js';
import { foundFormat } from '../connection/preflight.js';
import { int, list } from '../connection/reply.js';
import { literally, scanKeys } from '../connection/scan.js';
import type { CrawlAccess } from '../crawl-access.js';

/** Keys unlinked by one step of sweeping: some 2 ms. */
const SWEEP_STEP = 2_000;

/** @throws RefusedError while nodes live, unless `force`. */
export async function clearParts(
  { connection, options: { keys }, call }: CrawlAccess,
  parts: readonly Part[],
  force: boolean,
): Promise<void> {
  const format = await connection.patiently((client) => foundFormat(client, keys));
  const live = int(await call('clear', { force, parts }));
  if (live > 0) throw nodesAtWork(live, 'clear');
  // Another format may have internal keys that we do not know by name.
  const isOurs = format === null || format === String(dataFormats.redis);
  if (isOurs || !parts.includes('queue')) return sweep(call);
  for await (const names of scanKeys(connection.client, `${literally(keys.requests)}:~*`)) {
    if (names.length > 0) await connection.patiently((client) => client.unlink(...names));
  }
}

/** @returns how many requests were lost. */
export async function acceptLosses({ options: { shape }, call }: CrawlAccess): Promise<number> {
  const [lost, cleared] = list(await call('accept_losses', { persist: shape.persist }));
  if (int(cleared) === 1) await sweep(call);
  return int(lost);
}

/** Remove what a cleared dupefilter of many keys left, a step at a time, so that the store serves others between. */
export async function sweep(call: Call): Promise<void> {
  while (int(await call('sweep', { most: SWEEP_STEP })) > 0);
}

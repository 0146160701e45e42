/**
 * The page budget of a run over partitions: blocks of it are granted by partition 0 (`lua/partitions/grant-pages.lua`). So
 * `--max-pages` is exact, though a lease asks its own partition only.
 */
import { int, json } from '../../redis/connection/reply.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';

/**
 * Grant more pages to a partition that has none left; the others give back what they do not use.
 * @returns whether it may lease again.
 */
export async function requestPages(
  parts: readonly RedisFrontier[],
  run: string,
  to: number,
  wanted: number,
): Promise<boolean> {
  if (await grant(parts, run, to, wanted, [])) return true;
  const returned = await Promise.all(
    parts.map(({ partition }, index) =>
      index === to ? 0 : partition.crawl.call('take_pages', { run, givesBack: true }).then(int),
    ),
  );
  return grant(parts, run, to, wanted, returned);
}

/** @param returned what each partition is known to have given back, if anything new is known. */
async function grant(
  parts: readonly RedisFrontier[],
  run: string,
  to: number,
  wanted: number,
  returned: readonly number[],
): Promise<boolean> {
  const args = { run, to, wanted, count: parts.length, returned };
  const reply = await parts[0]!.partition.crawl.call('grant_pages', args);
  const { granted, block } = json<{ granted: number; block: number }>(reply);
  if (granted === 0) return false;
  // Also without a new block: a node that died may have been granted one, and not have told the partition.
  await parts[to]!.partition.crawl.call('take_pages', { run, granted });
  return block > 0;
}

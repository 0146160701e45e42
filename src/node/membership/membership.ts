/** Joins a crawl: registers the node, logs what it found, and pushes the start requests unless another node has. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RefusedError } from '../../errors.js';
import { duration, howMany } from '../../format-amounts.js';
import { expires } from '../../frontier/dupefilter-classes.js';
import type { FrontierRequest, Joined, Shape } from '../../frontier/frontier.js';
import { inChunks, requestWeight } from '../../frontier/in-chunks.js';
import { startKey } from '../../frontier/shared-settings/run-arguments.js';
import type { Spider } from '../../spider/spider.js';
import { hasIdleHooks } from '../extensions/idle-hooks.js';
import type { NodeDeps } from '../node-options.js';
import { hasGenerator } from '../seeds/start-generator.js';
import { howToCrawlAgain, nothingNew } from '../shutdown/node-stop-reason.js';
import type { Outage } from './outage.js';

/**
 * Register as a new incarnation.
 * @throws RefusedError when the crawl has another shape; FrontierUnavailableError when the store cannot be reached.
 */
export function join({ frontier, node, options, spider, extensions }: NodeDeps): Promise<Joined> {
  const { shape, tunables, budgets, feeds, flushOnStart, cookies } = options;
  const { args } = spider;
  const startsAgain = hasGenerator(spider) && mayComeAgain(spider, shape);
  return frontier.join(node, {
    ...{ shape, tunables, budgets, feeds, flushOnStart, args, startsAgain },
    hasStart: hasStart(spider),
    hasIdle: hasIdleHooks(spider, extensions?.all ?? []),
    maxCookieJars: cookies.maxJars,
  });
}

/** How often a node that waits for the end of others asks whether they have ended. */
const ASK_AGAIN_MS = 500;

/**
 * The first join: after a stop it waits until its nodes have ended. @returns null where a signal came meanwhile.
 * @throws RefusedError also when they take longer than a stop can: for the time that pages in progress are given, and then
 *   NODE_TIMEOUT to be seen as dead, twice for those that are declared dead late.
 */
export async function joinFirst(deps: NodeDeps): Promise<Joined | null> {
  const { log, drain, force, spider, options } = deps;
  const limitMs = options.graceMs + 2 * options.tunables.nodeTimeoutMs;
  const startedAt = performance.now();
  const stop = AbortSignal.any([drain, force]);
  for (let isSaid = false; !stop.aborted; isSaid = true) {
    try {
      return await join(deps);
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'live_nodes') throw error;
      if (performance.now() - startedAt > limitMs) {
        throw new RefusedError(
          `${error.message} after ${duration(limitMs)}: it hangs in its stop. "crawlnode stats SPIDER" names it; end its process, and start again`,
          { code: 'live_nodes' },
        );
      }
      if (!isSaid)
        log.info(
          {},
          `${error.message}: the crawl of ${spider.name} begins when they have (at most NODE_TIMEOUT later where they were killed)`,
        );
    }
    await sleep(ASK_AGAIN_MS, undefined, { signal: stop }).catch(() => {});
  }
  return null;
}

/** Whether a spider has start requests. */
export function hasStart(spider: Spider): boolean {
  return hasGenerator(spider) || spider.startUrls.length > 0;
}

/** Whether a later run may fetch a page again that an earlier one has fetched. */
function mayComeAgain(spider: Spider, { dupefilter }: Shape): boolean {
  return spider.refresh !== undefined || expires(dupefilter);
}

/** Log what this node found: requests of an earlier run, seeds, and other nodes. */
export function announce({ found, notices }: Joined, { log, spider, open }: NodeDeps): void {
  for (const notice of notices) log.warn({}, notice);
  // Logged so that a user can compare nodes which should share a crawl and do not.
  const store = open.store.engine === 'redis' ? 'redis' : open.store.dir;
  const isSo = Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== 0 && value !== false),
  );
  log.info({ ...isSo, store }, whatItFinds(found, spider.name));
}

function whatItFinds(found: Joined['found'], spider: string): string {
  if (found.nodes > 0) {
    return `joining the crawl of ${spider}, beside ${howMany(found.nodes, 'other node')}`;
  }
  const { pending, delayed, leased } = found;
  const parts = [
    ...(pending > 0 ? [`${requests(pending, 'is', 'are')} pending`] : []),
    ...(delayed > 0 ? [`${requests(delayed, 'waits', 'wait')} to be tried again`] : []),
    ...(leased > 0 ? [`${requests(leased, 'was', 'were')} in progress when a node died`] : []),
  ];
  return parts.length === 0 ? `crawling ${spider}` : `crawling ${spider}: ${parts.join(', ')}`;
}

/** Such as `1 request is`, `2 requests are`. */
function requests(count: number, one: string, several: string): string {
  return `${howMany(count, 'request')} ${count === 1 ? one : several}`;
}

/**
 * Tell the user of a node without --exit-when-done that the crawl is finished already, since it would wait in silence.
 * @returns whether it was said
 */
export function sayNothingNew({ found }: Joined, { log, crawlArguments, options }: NodeDeps): boolean {
  if (options.exitWhenDone || found.pending + found.delayed + found.leased + found.nodes > 0) return false;
  const how = howToCrawlAgain({ crawlArguments });
  log.warn({}, `${nothingNew({ found })}; this node waits for seeds. You may want to: ${how}`);
  return true;
}

/**
 * Push the spider's start requests, once per job. The store knows how many it has, so a second node, or one after a node
 * that died half-way, adds only those that are missing.
 * @param again those that may be fetched again in this run: judged like any link, so that the first node has them taken.
 * @returns how many were accepted.
 */
export async function pushStart(
  requests: readonly FrontierRequest[],
  { frontier, log, spider }: Pick<NodeDeps, 'frontier' | 'log' | 'spider'>,
  outage: Outage,
  stop: AbortSignal,
  again = false,
): Promise<number> {
  const total = requests.length;
  let from = 0;
  let accepted = 0;
  for (const chunk of inChunks(requests, requestWeight)) {
    const part = { from, total, key: startKey(spider.args) };
    const push = () => (again ? frontier.push(chunk, 'seeds-judged') : frontier.push(chunk, 'start', part));
    accepted += (await outage.through('push', stop, push)).accepted;
    from += chunk.length;
  }
  const which = again ? 'the start requests that may be fetched again' : 'the start requests';
  if (accepted > 0) log.info({ accepted }, `pushed ${which}`);
  return accepted;
}

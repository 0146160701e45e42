/** docs/reference/stats-and-counters.md, from the types that `stats --json` prints and the counters in the source. */
import { counterMeanings, countersInSource } from './counters.js';
import { code, fence, page, table } from './markdown.js';
import type { Documented, SourceApi } from './source-api.js';

const ends: readonly (readonly [reason: string, meaning: string])[] = [
  [
    'finished',
    'nothing was left to crawl (`--exit-when-done`), or `MAX_IDLE_TIME_BEFORE_CLOSE` passed without work',
  ],
  ['closespider_pagecount', '`--max-pages` or `CLOSESPIDER_PAGECOUNT` was reached'],
  ['closespider_itemcount', '`CLOSESPIDER_ITEMCOUNT` was reached'],
  ['closespider_errorcount', '`CLOSESPIDER_ERRORCOUNT` was reached'],
  ['closespider_timeout', '`CLOSESPIDER_TIMEOUT` passed'],
  ['any other', '`throw new CloseSpider(reason)` in the code of the project'],
  ['stopped', 'somebody typed `crawlnode stop`'],
  ['shutdown', 'a signal ended the last node'],
  ['feed_unwritable', 'a file of items could not be written for `WAIT_TIMEOUT`'],
  [
    'requests_lost',
    'nothing was left to crawl, but requests were lost: their records vanished from the store',
  ],
  [
    'memory_limit',
    'seeds waited for `WAIT_TIMEOUT`, as the crawl took more than `SCHEDULER_MEMORY_LIMIT` and nothing was in progress',
  ],
  ['crawl_stalled', 'requests were left that no node could find, also after their queues were rebuilt'],
  ['frontier_gone', 'the records of the crawl vanished from the store'],
];

/** The page. @throws Error for a counter that has no description, or is in the source no more. */
export function statsPage(source: SourceApi): string {
  const stats = source.exportOf('crawler/stats/crawl-stats.ts', 'CrawlStats');
  const state = source.exportOf('crawler/stats/crawl-state.ts', 'CrawlState');
  const seam = (name: string) => source.exportOf('frontier/frontier.ts', name).members;
  checkCounters();
  return page(
    '# Stats and counters',
    '`crawlnode stats SPIDER --json` prints one object. `crawlnode stats --json` prints a list of them, one for each crawl in the store. [Monitoring](../guide/monitoring.md) shows what to watch.',
    '## The object',
    fields(stats.members),
    '## `state`',
    fence('ts', state.signatures.join('\n')),
    state.text,
    '## Each of `nodes` and `silentNodes`',
    fields([...seam('NodeInfo'), ...seam('NodeSnapshot')].filter(({ name }) => name !== 'clockAheadMs')),
    '## `run`',
    fields(seam('RunSnapshot')),
    '## Each of `feeds`',
    fields(seam('OutboxSnapshot')),
    '## Each of `pipelines`',
    fields(source.exportOf('crawler/stats/crawl-stats.ts', 'PipelineStats').members),
    '## Counters',
    "`counters` is also what `HGETALL <spider>:stats` shows in Redis, beside `customStats` with `custom/` before their names. Names are Scrapy's where it has one; `*` stands for a part that varies. A counter that has never counted is absent. `reset` sets all of them back, and `reset --only stats` does nothing else.",
    table(
      ['counter', 'counts'],
      Object.entries(counterMeanings).map(([name, meaning]) => [code(name), meaning]),
    ),
    '## Reasons for the end of a run',
    '`run.closed` in `stats --json`, `reason` in the summary of `crawl --json`, and the argument of `closed(reason)` of a spider:',
    table(
      ['reason', 'means'],
      ends.map(([reason, meaning]) => [code(reason), meaning]),
    ),
  );
}

/** Types that say more in words than by their names. */
const inWords: Readonly<Record<string, string>> = {
  nodes: 'list of objects, see below',
  silentNodes: 'list of objects, see below',
  feeds: 'list of objects, see below',
  pipelines: 'list of objects, see below',
  run: 'object or null, see below',
  shape: 'object or null',
  bytes: 'numbers by part',
  counters: 'numbers by name',
  state: 'text, see below',
};

function fields(members: readonly Documented[]): string {
  return table(
    ['field', 'type', ''],
    members.map(({ name, signatures: [signature = ''], text }) => [
      code(name),
      inWords[name] ?? code(typeOf(signature)),
      text.replaceAll('<', '\\<'),
    ]),
  );
}

function typeOf(signature: string): string {
  const type = signature.replace(/^readonly /, '').replace(/^\w+\??: /, '');
  return type === 'Control' ? "'running' | 'paused' | 'stopping'" : type;
}

function checkCounters(): void {
  const inSource = countersInSource();
  const undescribed = inSource.filter((name) => counterMeanings[name] === undefined);
  const gone = Object.keys(counterMeanings).filter((name) => !inSource.includes(name));
  if (undescribed.length > 0) {
    throw new Error(`scripts/docs/counters.ts describes no ${undescribed.join(', ')}: add a line for each`);
  }
  if (gone.length > 0)
    throw new Error(`scripts/docs/counters.ts describes ${gone.join(', ')}, which no source counts`);
}

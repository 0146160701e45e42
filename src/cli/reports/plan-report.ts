/** `crawlnode plan` for people. */
import type { MeasuredCosts } from '../../crawler/plan/measured-costs.js';
import type { Plan } from '../../crawler/plan/plan.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import { alignColumns } from '../terminal/align-columns.js';

/** @param measured the crawl that the costs of a page were taken from; null for those of the benches */
export function planReport(
  plan: Plan,
  measured: (MeasuredCosts & { readonly crawl: string }) | null,
): string {
  const { pages, domains, pagesPerSecond, nodes, network, redis } = plan;
  const rows = [
    ['time', duration((pages / pagesPerSecond) * 1_000)],
    ['domains', `${perDomain(plan)}; the settings allow ${rounded(plan.domainsAllowPagesPerSecond)} pages/s`],
    [
      'nodes',
      `${n(nodes.count)}, as many as their ${nodes.countedBy === 'cpu' ? 'CPU' : 'slots'} ask for: ${rounded(nodes.cores)} cores, ${byteSize(nodes.memoryBytes)} of memory`,
    ],
    [
      'network',
      `${byteSize(network.bytesPerSecond)}/s from the sites, ${byteSize(network.bytes)} in all; ${byteSize(network.redisBytesPerSecond)}/s to and from Redis`,
    ],
  ];
  const columns = ['DUPEFILTER_CLASS', 'REDIS CORES', 'SERVERS', 'DUPEFILTER', 'QUEUE', 'MEMORY'];
  const classes = redis.map((each) => [
    ...[each.dupefilter, rounded(each.cores), n(each.servers)],
    ...[each.dupefilterBytes, each.queueBytes, each.memoryBytes].map(byteSize),
  ]);
  const isTooFast = pagesPerSecond > plan.domainsAllowPagesPerSecond;
  return [
    `${howMany(pages, 'page')} of ${howMany(domains, 'domain')} at ${rounded(pagesPerSecond)} pages/s`,
    '',
    ...alignColumns(rows).map((line) => `  ${line}`),
    '',
    ...alignColumns([columns, ...classes]).map((line) => `  ${line}`),
    '',
    ...(isTooFast
      ? [
          'The domains do not allow this rate: DOWNLOAD_DELAY and CONCURRENT_REQUESTS_PER_DOMAIN limit it, so it takes longer.',
        ]
      : []),
    ...(redis[0]!.servers > 1
      ? ['One Redis is too slow for this rate: divide the crawl by domain (docs/guide/capacity.md).']
      : []),
    ...basis(plan, measured),
  ].join('\n');
}

function perDomain({ domains, pagesPerSecond }: Plan): string {
  const each = pagesPerSecond / domains;
  return each < 1 ? `a page of each every ${duration(1_000 / each)}` : `${rounded(each)} pages/s from each`;
}

function basis({ costs }: Plan, measured: Parameters<typeof planReport>[1]): string[] {
  const page = `${rounded(costs.nodeMs)} ms of CPU of a node and ${rounded(costs.redisMs)} ms of Redis, ${byteSize(costs.bytes)}, ${rounded(costs.slotMs / 1_000)} s in a slot`;
  const queue = `The queue is at most ${Math.round(costs.waitingShare * 100)} % of the requests, unless SCHEDULER_QUEUE_LIMIT is less. Items are not counted.`;
  if (measured === null)
    return [
      `A page: ${page}. These figures are of benches (docs/internals/performance.md), and the second is an assumption.`,
      queue,
      'Crawl a sample of your pages, and take its figures: crawlnode plan --from SPIDER',
    ];
  const redis = measured.isRedisMeasured
    ? 'Redis: all that its server did in that time, for other crawls too.'
    : 'The figures of Redis are of benches.';
  return [`A page: ${page}, measured over ${n(measured.pages)} pages of ${measured.crawl}. ${redis}`, queue];
}

/** Two digits that say something. */
function rounded(value: number): string {
  if (value >= 10) return n(Math.round(value));
  return String(Number(value.toPrecision(2)));
}

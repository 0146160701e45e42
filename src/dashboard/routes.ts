/** The paths of the API, and what each reads. Answers have the fields that the commands print with `--json`. */
import { type DomainOrder, domainOrders } from '../crawler/stats/domain-reports.js';
import { changeCrawl, crawlActions } from './actions.js';
import { HttpError } from './answer.js';
import type { CrawlView, CrawlViews } from './crawl-views.js';
import { badSeeds, failedPage, failedSummary } from './lists.js';
import type { Reading } from './shared-reads.js';

/** A request whose path is known. */
export interface Ask {
  readonly crawls: CrawlViews;
  /** Parts of the path that the route names. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

export type Read = (ask: Ask) => Promise<Reading<unknown>>;

export const MOST_IN_A_PAGE = 500;

/** `:name` matches one part of a path. */
const reads: Readonly<Record<string, Read>> = {
  '/crawls': async ({ crawls }) => {
    const list = await crawls.list();
    return { ...list, value: list.value.crawls };
  },
  '/crawls/:crawl': of((crawl) => crawl.stats()),
  '/crawls/:crawl/nodes': of(async (crawl) => {
    const stats = await crawl.stats();
    const { nodes, silentNodes, deadNodes } = stats.value;
    return { ...stats, value: { nodes, silentNodes, deadNodes } };
  }),
  '/crawls/:crawl/scale': of(async (crawl) => {
    const stats = await crawl.stats();
    const { wantedNodes, nodes, limitedBy, limitedByText } = stats.value;
    return {
      ...stats,
      value: { wantedNodes: wantedNodes ?? 0, nodes: nodes.length, limitedBy, limitedByText },
    };
  }),
  '/crawls/:crawl/domains': of((crawl, { query }) => {
    const order = (query.get('sort') ?? 'pending') as DomainOrder;
    if (!domainOrders.includes(order))
      throw new HttpError(400, 'bad_request', `sort is one of ${domainOrders.join(', ')}`);
    return crawl.domains(order, limitOf(query, 100), query.get('after'));
  }),
  '/crawls/:crawl/history': of((crawl, { query }) => {
    // To whole steps, so that viewers who ask at different instants share a reading.
    const toMs = timeOf(query, 'to') ?? Math.ceil(Date.now() / 10_000) * 10_000 + 60_000;
    const fromMs = timeOf(query, 'from') ?? toMs - 3_660_000;
    const step = query.get('step');
    return crawl.history({ fromMs, toMs, stepMs: step === null ? null : numberOf('step', step, 1) * 1_000 });
  }),
  '/crawls/:crawl/events': of(async (crawl, { query }) => {
    const events = await crawl.events();
    const after = afterOf(query);
    return { ...events, value: events.value.filter(({ number }) => number > after) };
  }),
  '/crawls/:crawl/failed': of((crawl, { query }) => failedPage(crawl, query, limitOf(query, 50))),
  '/crawls/:crawl/failed/summary': of(failedSummary),
  '/crawls/:crawl/seeds': of((crawl, { query }) => badSeeds(crawl, afterOf(query), limitOf(query, 50))),
};

const changes = Object.fromEntries(
  crawlActions.map((action) => [`/crawls/:crawl/${action}`, changeCrawl(action)]),
);

export const readRoutes = routesOf(reads);
export const changeRoutes = routesOf(changes);

/** Find what a path leads to. */
export function findRoute<T>(
  routes: readonly Route<T>[],
  path: string,
): { readonly run: T; readonly path: Readonly<Record<string, string>> } | null {
  for (const { pattern, run } of routes) {
    const match = pattern.exec(path);
    if (match !== null) return { run, path: decoded(match.groups ?? {}) };
  }
  return null;
}

interface Route<T> {
  readonly pattern: RegExp;
  readonly run: T;
}

function routesOf<T>(table: Readonly<Record<string, T>>): Route<T>[] {
  return Object.entries(table).map(([path, run]) => ({
    pattern: new RegExp(`^/api/v1${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
    run,
  }));
}

function decoded(parts: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new HttpError(400, 'bad_request', 'the path is not encoded as a URL');
  }
}

function of(read: (crawl: CrawlView, ask: Ask) => Promise<Reading<unknown>>): Read {
  return async (ask) => read(await ask.crawls.find(ask.path.crawl!), ask);
}

function limitOf(query: URLSearchParams, usual: number): number {
  return Math.min(MOST_IN_A_PAGE, numberOf('limit', query.get('limit') ?? String(usual), 1));
}

function afterOf(query: URLSearchParams): number {
  return numberOf('after', query.get('after') ?? '0', 0);
}

function numberOf(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= least) return value;
  throw new HttpError(400, 'bad_request', `${name} is a whole number from ${least}`);
}

/** An instant as ms since 1970, or as ISO 8601. */
function timeOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const atMs = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isFinite(atMs)) return atMs;
  throw new HttpError(400, 'bad_request', `${name} is ms since 1970, or a time such as 2026-11-24T14:05:00Z`);
}

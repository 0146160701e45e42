/** The crawls of a store as the dashboard reads them. Each is opened when somebody first looks at it. */
import { type CrawlName, crawlName } from '../crawler/project/crawls-in-store.js';
import { openOptions } from '../crawler/project/open-frontier.js';
import { type CrawlStats, statsOf } from '../crawler/stats/crawl-stats.js';
import { type DomainOrder, type DomainPage, DomainReader } from '../crawler/stats/domain-reports.js';
import { type HistorySpan, readHistory } from '../crawler/stats/read-history.js';
import { StatsReader } from '../crawler/stats/read-stats.js';
import { FrontierGoneError, messageOf, RefusedError } from '../errors.js';
import { openFrontier } from '../frontier/choose-engine.js';
import type { CrawlEvent, Frontier, HistoryPoint } from '../frontier/frontier.js';
import { type CrawlReader, crawlMetrics } from '../metrics/crawl-metrics.js';
import { maskTexts } from '../settings/mask-urls.js';
import type { Settings } from '../settings/schema.js';
import type { Spider } from '../spider/spider.js';
import { HttpError } from './answer.js';
import { type Reading, SharedReads } from './shared-reads.js';

/** A crawl of the store, or of a spider of the project that has not begun. */
export interface CrawlSource extends CrawlName {
  /** As the crawl uses them. */
  readonly settings: Settings;
  /** Masks the secrets of its settings in a text. */
  mask(text: string): string;
  /** Null where the module of the spider is not on this machine: nobody can turn seeds into requests then. */
  readonly createSpider: (() => Promise<Spider>) | null;
}

/** New crawls appear within this time. Finding them walks over the keys of a Redis. */
const LIST_FRESH_MS = 10_000;
const ROWS_FRESH_MS = 4_000;
const STATS_FRESH_MS = 1_500;
const EVENTS_FRESH_MS = 4_000;
const HISTORY_FRESH_MS = 8_000;
const DOMAINS_FRESH_MS = 4_000;

/** What the dashboard knows of one crawl. */
export class CrawlView {
  readonly source: CrawlSource;
  readonly name: string;
  readonly #reads = new SharedReads();
  #opening: Promise<Frontier> | null = null;
  #stats: StatsReader | null = null;
  #domains: DomainReader | null = null;

  constructor(source: CrawlSource) {
    this.source = source;
    this.name = crawlName(source);
  }

  #open(): Promise<Frontier> {
    // A store that may evict is refused to nodes. To look at it does no harm.
    const open = () =>
      openFrontier({ ...openOptions(this.source.settings, this.source.spider), allowEviction: true });
    this.#opening ??= open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /** As `stats` without a spider has it. */
  row(): Promise<Reading<CrawlStats>> {
    return this.read('row', ROWS_FRESH_MS, async (frontier) =>
      statsOf({ ...this.source, frontier }, await frontier.snapshot()),
    );
  }

  stats(): Promise<Reading<CrawlStats>> {
    return this.read('stats', STATS_FRESH_MS, (frontier) => {
      this.#stats ??= new StatsReader({ ...this.source, scaleMax: this.source.settings.SCALE_MAX, frontier });
      return this.#stats.read();
    });
  }

  domains(order: DomainOrder, limit: number, after: string | null): Promise<Reading<DomainPage>> {
    return this.read(`domains ${order} ${limit} ${after ?? ''}`, DOMAINS_FRESH_MS, (frontier) => {
      this.#domains ??= new DomainReader(frontier);
      return this.#domains.page(order, limit, after);
    });
  }

  history(span: HistorySpan): Promise<Reading<HistoryPoint[]>> {
    const key = `history ${span.fromMs} ${span.toMs} ${span.stepMs}`;
    return this.read(key, HISTORY_FRESH_MS, (frontier) => readHistory(frontier, span));
  }

  /** The last events, oldest first. */
  events(): Promise<Reading<CrawlEvent[]>> {
    return this.read('events', EVENTS_FRESH_MS, ({ telemetry }) => telemetry.events(0));
  }

  /** Read what all viewers share. All that leaves the dashboard comes from here, with its secrets masked. */
  read<T>(key: string, freshMs: number, read: (frontier: Frontier) => Promise<T>): Promise<Reading<T>> {
    return this.#reads.get(key, freshMs, async () => maskTexts(await this.use(read), this.source.mask));
  }

  /** Read or change the store now. One that was deleted may have been made anew: it is opened once more. */
  async use<T>(action: (frontier: Frontier) => Promise<T>): Promise<T> {
    const opening = this.#open();
    try {
      return await action(await opening);
    } catch (error) {
      if (!(error instanceof FrontierGoneError)) throw error;
      if (this.#opening === opening) {
        this.#opening = null;
        this.#stats = null;
        this.#domains = null;
        await (await opening).close();
      }
      return await action(await this.#open());
    }
  }

  /** After an action of ours, nobody is shown how it was before. */
  forget(): void {
    this.#reads.forget('');
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }
}

/** All crawls, and what keeps some of them from being read. */
export interface CrawlList {
  readonly crawls: readonly CrawlStats[];
  /** Sentences, such as of a crawl in another data format. */
  readonly problems: readonly string[];
}

export class CrawlViews {
  readonly #list: () => Promise<readonly CrawlSource[]>;
  readonly #reads = new SharedReads();
  readonly #views = new Map<string, CrawlView>();

  /** @param list finds the crawls anew; of a crawl that it has given before it gives the same source. */
  constructor(list: () => Promise<readonly CrawlSource[]>) {
    this.#list = list;
  }

  async list(): Promise<Reading<CrawlList>> {
    const found = await this.#all();
    const crawls: CrawlStats[] = [];
    const problems: string[] = [];
    let { failure } = found;
    const readAtMs: number[] = [];
    for (const { view, row } of await Promise.all(found.value.map(rowOf))) {
      if (row instanceof RefusedError) problems.push(`${view.name}: ${view.source.mask(messageOf(row))}`);
      else if (row instanceof Error) throw row;
      else {
        crawls.push(row.value);
        readAtMs.push(row.atMs);
        failure ??= row.failure;
      }
    }
    // Numbers are newer than the list of names, which is read less often.
    const atMs = Math.min(...(readAtMs.length === 0 ? [found.atMs] : readAtMs));
    return { value: { crawls, problems }, atMs, failure };
  }

  /** @throws HttpError 404 for a crawl that is not there */
  async find(name: string): Promise<CrawlView> {
    const view = this.#views.get(name) ?? (await this.#all()).value.find((each) => each.name === name);
    if (view === undefined)
      throw new HttpError(404, 'no_such_crawl', `there is no crawl ${name} in the store`);
    return view;
  }

  /** Prometheus' text. */
  async metrics(): Promise<string> {
    const views = upToDate(await this.#all());
    return crawlMetrics(async () => views.map(metricsReader));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#views.values()].map((view) => view.close()));
  }

  #all(): Promise<Reading<readonly CrawlView[]>> {
    return this.#reads.get('crawls', LIST_FRESH_MS, async () => {
      const sources = await this.#list();
      const names = new Set(sources.map(crawlName));
      for (const [name, view] of this.#views) {
        if (names.has(name)) continue;
        this.#views.delete(name);
        await view.close();
      }
      return sources.map((source) => {
        const view = this.#views.get(crawlName(source)) ?? new CrawlView(source);
        this.#views.set(view.name, view);
        return view;
      });
    });
  }
}

async function rowOf(
  view: CrawlView,
): Promise<{ readonly view: CrawlView; readonly row: Reading<CrawlStats> | Error }> {
  return { view, row: await view.row().catch((error: Error) => error) };
}

function metricsReader(view: CrawlView): CrawlReader {
  const { spider, job, settings } = view.source;
  const most = settings.METRICS_DOMAINS;
  return {
    ...{ spider, job },
    stats: async () => upToDate(await view.stats()),
    domains: async () => (most === 0 ? [] : upToDate(await view.domains('pending', most, null)).domains),
  };
}

/** Old numbers would pass for new ones. */
function upToDate<T>({ value, failure }: Reading<T>): T {
  if (failure !== null) throw failure;
  return value;
}

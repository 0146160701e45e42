/** What changes a crawl. Each does what the command of its name does, and answers with what that prints with `--json`. */
import { matchingFailed, purgeFailed, retryFailed } from '../crawler/requests/failed-actions.js';
import type { ReadFailed } from '../crawler/requests/failed-requests.js';
import { orderCrawl } from '../crawler/run/order-crawl.js';
import { openSeeding } from '../crawler/seeds/open-seeding.js';
import type { SeedText } from '../crawler/seeds/seed-text.js';
import { messageOf } from '../errors.js';
import { isKept } from '../frontier/callback-error-keep.js';
import type { Control } from '../frontier/frontier.js';
import { HttpError } from './answer.js';
import type { CrawlView } from './crawl-views.js';
import { selectionOf } from './lists.js';

type Body = Readonly<Record<string, unknown>>;

/** @param by who asks, for the events of the crawl */
export type Change = (crawl: CrawlView, body: Body, by: string) => Promise<object>;

/** Seeds that the queue has no room for within this time are left. */
const SEED_WAIT_MS = 10_000;
const MOST_NAMED_BAD = 100;

const order =
  (control: Control): Change =>
  async (crawl, _body, by) => {
    const { nodes, hasBegun } = await crawl.use((frontier) => orderCrawl(frontier, control, by));
    if (control === 'paused' && !hasBegun)
      throw new HttpError(409, 'not_begun', `${crawl.name} has not begun, so there is nothing to pause`);
    return { spider: crawl.source.spider, control, nodes };
  };

const changes: Readonly<Record<string, Change>> = {
  pause: order('paused'),
  resume: order('running'),
  stop: order('stopping'),
  seed,
  'failed/retry': async (crawl, body) => {
    const isSelected = selectionOf(body);
    // Items of kept pages were committed: they would come twice.
    const isWanted = (each: ReadFailed) => !isKept(each.failed.reason) && isSelected(each);
    const retried = await crawl.use((frontier) =>
      retryFailed(frontier, matchingFailed(frontier, isWanted), crawl.source.settings),
    );
    return { ...nameOf(crawl), ...retried };
  },
  'failed/purge': async (crawl, body) => {
    const isSelected = selectionOf(body);
    const purged = await crawl.use((frontier) => purgeFailed(frontier, matchingFailed(frontier, isSelected)));
    return { ...nameOf(crawl), purged };
  },
};

export const crawlActions: readonly string[] = Object.keys(changes);

/** Do it, then let nobody be shown what was read before. */
export function changeCrawl(name: string): Change {
  return async (crawl, body, by) => {
    try {
      return await changes[name]!(crawl, body, by);
    } finally {
      crawl.forget();
    }
  };
}

/** Seeds of the dashboard are as little trusted as those of the store: they reach no private address, and name no proxy. */
async function seed(crawl: CrawlView, { seeds }: Body): Promise<object> {
  const isList = Array.isArray(seeds) && seeds.length > 0 && seeds.every((each) => typeof each === 'string');
  if (!isList)
    throw new HttpError(400, 'bad_request', 'seeds is a list of URLs, or of requests as JSON texts');
  const { source } = crawl;
  if (source.createSpider === null)
    throw new HttpError(409, 'spider', `the spider ${source.spider} is not on the machine of the dashboard`);
  const { settings } = source;
  const spider = await source.createSpider();
  return crawl.use(async (frontier) => {
    const seeding = await openSeeding({ frontier, spider, settings, toStartUrls: false });
    const counts = { accepted: 0, duplicates: 0, bad: 0 };
    const badSeeds: { seed: string; reason: string }[] = [];
    let isQueueFull = false;
    await seeding.take(seedTexts(seeds), counts, {
      onBad: ({ text }: SeedText, error: Error) => {
        if (badSeeds.length < MOST_NAMED_BAD) badSeeds.push({ seed: text, reason: messageOf(error) });
      },
      onWait: (full) => {
        isQueueFull = full !== null;
      },
      stop: AbortSignal.timeout(SEED_WAIT_MS),
    });
    return { ...nameOf(crawl), ...counts, badSeeds, isQueueFull };
  });
}

async function* seedTexts(seeds: readonly string[]): AsyncGenerator<SeedText> {
  for (const [at, text] of seeds.entries()) {
    if (text.trim() !== '') yield { text: text.trim(), where: `seed ${at + 1}`, trust: 'untrusted' };
  }
}

function nameOf({ source: { spider, job } }: CrawlView): { spider: string; job: string | null } {
  return { spider, job };
}

/** `seed()`: seeds of a program, pushed as the queue has room. */
import { messageOf, UsageError } from '../../errors.js';
import { Request } from '../../http/message/request.js';
import { openOptions, withFrontier } from '../project/open-frontier.js';
import { openSeeding } from '../seeds/open-seeding.js';
import type { SeedText } from '../seeds/seed-text.js';
import { checkCall } from './check-call.js';
import { loadProgramSpider } from './load-program-spider.js';
import type { SeedOptions, SeedResult, SpiderChoice } from './options.js';

/** How many bad seeds are named. */
const NAMED_BAD = 100;

type Seeds = Iterable<string | Request> | AsyncIterable<string | Request>;

export async function seed(choice: SpiderChoice, seeds: Seeds, options: SeedOptions): Promise<SeedResult> {
  checkCall('seed', choice, options);
  if (!isIterable(seeds)) throw new UsageError('seed() takes a list of seeds, or a generator of them');
  const { signal = new AbortController().signal } = options;
  const spider = await loadProgramSpider(choice, options);
  const { settings } = spider.loaded;
  return withFrontier(openOptions(settings, spider.found.name), async (frontier) => {
    const plan = { frontier, spider: await spider.create(), settings, toStartUrls: false };
    const seeding = await openSeeding(plan);
    const counts = { accepted: 0, duplicates: 0, bad: 0 };
    const badSeeds: { seed: string; reason: string }[] = [];
    const onBad = ({ text }: SeedText, error: Error) => {
      if (badSeeds.length < NAMED_BAD) badSeeds.push({ seed: text, reason: messageOf(error) });
    };
    await seeding.take(seedTexts(seeds, seeding.isRaw), counts, { onBad, onWait: () => {}, stop: signal });
    return { ...counts, badSeeds };
  });
}

/** A text is iterable too, but its letters are not seeds. */
function isIterable(seeds: unknown): boolean {
  return (
    typeof seeds === 'object' && seeds !== null && (Symbol.iterator in seeds || Symbol.asyncIterator in seeds)
  );
}

/** @param isRaw they go to start_urls as texts (SCHEDULER_FLUSH_ON_START) */
async function* seedTexts(seeds: Seeds, isRaw: boolean): AsyncGenerator<SeedText> {
  let at = 0;
  for await (const seed of seeds) {
    at += 1;
    const where = `seed ${at}`;
    if (seed instanceof Request) {
      if (isRaw)
        throw new UsageError('with SCHEDULER_FLUSH_ON_START, seeds are URLs or JSON texts, not Requests');
      yield { text: seed.url, request: seed, where };
    } else if (typeof seed === 'string') {
      yield { text: seed, where };
    } else {
      throw new UsageError(`${where} is ${seed === null ? 'null' : typeof seed}, not a URL or a Request`);
    }
  }
}

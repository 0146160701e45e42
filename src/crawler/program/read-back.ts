/** `items()` and `failed()`: what a crawl has in its store, one by one. */
import { openFrontier } from '../../frontier/choose-engine.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { JsonObject } from '../../http/message/record/request-record.js';
import { listedItems } from '../feeds/listed-items.js';
import { refuseMissingJob } from '../project/crawls-in-store.js';
import { openOptions } from '../project/open-frontier.js';
import { describeFailed, type FailedPage, failedPages } from '../requests/failed-requests.js';
import { checkCall } from './check-call.js';
import type { ProgramOptions, SpiderChoice } from './options.js';
import { settingsOf } from './stats.js';

export function items(choice: SpiderChoice, options: ProgramOptions): AsyncGenerator<JsonObject> {
  checkCall('items', choice, options);
  return read(choice, options, listedItems);
}

export function failed(choice: SpiderChoice, options: ProgramOptions): AsyncGenerator<FailedPage> {
  checkCall('failed', choice, options);
  return read(choice, options, async function* (frontier) {
    for await (const page of failedPages(frontier)) yield* page.map(describeFailed);
  });
}

async function* read<T>(
  choice: SpiderChoice,
  options: ProgramOptions,
  from: (frontier: Frontier) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const { name, settings } = await settingsOf(choice, options);
  const frontier = await openFrontier(openOptions(settings, name));
  try {
    await refuseMissingJob(frontier, { spider: name, job: settings.JOB });
    yield* from(frontier);
  } finally {
    await frontier.close();
  }
}

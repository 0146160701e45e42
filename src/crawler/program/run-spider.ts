/** `runSpider()`: one callback on one response, without a store and without the network. */
import { UsageError } from '../../errors.js';
import { Response } from '../../http/message/response.js';
import { callbackName } from '../../spider/callbacks.js';
import { runCallback } from '../../spider/run-callback.js';
import type { SpiderClass } from '../../spider/spider.js';
import { checkCall } from './check-call.js';
import { loadProgramSpider } from './load-program-spider.js';
import type { RunSpiderOptions, SpiderOutput } from './options.js';

export async function runSpider(
  SpiderClass: SpiderClass,
  response: Response,
  options: RunSpiderOptions,
): Promise<SpiderOutput> {
  checkCall('runSpider', SpiderClass, options);
  if (!(response instanceof Response)) {
    throw new UsageError(
      'runSpider() takes a Response: new Response({ url, body }), or Response.fromFile(file)',
    );
  }
  const { callback = 'parse', args = {}, settings = {} } = options;
  const loaded = await loadProgramSpider(SpiderClass, { args, settings, config: false });
  const spider = await loaded.create();
  const { items, requests, unfetchable } = await runCallback(
    spider,
    callbackName(spider, callback),
    response,
    { callbackTimeoutMs: spider.settings.CALLBACK_TIMEOUT * 1_000 },
  );
  return {
    items,
    requests: requests.map(({ request, callback, errback }) => request.replace({ callback, errback })),
    unfetchable,
  };
}

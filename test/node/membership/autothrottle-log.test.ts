/** AUTOTHROTTLE_DEBUG: the delays of a crawl whose latencies the store turns into delays. */
import { expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../../src/log.js';
import { DelayLog } from '../../../src/node/membership/autothrottle-log.js';
import { Spider } from '../../../src/spider/spider.js';
import { freshStore, nodeOptions, startNode } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

/** A log that keeps its lines. */
function recording(): { log: Logger; fields: Record<string, number | string>[]; texts: string[] } {
  const fields: Record<string, number | string>[] = [];
  const texts: string[] = [];
  const info = (given: Record<string, number | string>, text: string) => {
    if (!text.startsWith('slot: ')) return;
    fields.push(given);
    texts.push(text);
  };
  return { log: { ...silentLogger, info: info as Logger['info'] }, fields, texts };
}

test('each line has the delay, its change since the last one, the latency and the size', () => {
  const { log, texts } = recording();
  const delays = new DelayLog(log);
  for (const delayMs of [5_000, 2_600, 3_000]) {
    const lease = { domain: 'a.example', delayMs } as Parameters<DelayLog['note']>[0];
    delays.note(lease, { latencyMs: 200.4, body: Buffer.alloc(7) });
  }
  expect(texts).toEqual([
    'slot: a.example | delay: 5000 ms (+0) | latency: 200 ms | size: 7 bytes',
    'slot: a.example | delay: 2600 ms (-2400) | latency: 200 ms | size: 7 bytes',
    'slot: a.example | delay: 3000 ms (+400) | latency: 200 ms | size: 7 bytes',
  ]);
});

test('the delay of a crawl follows the latency of its site', async () => {
  const site = await startSite({ pages: 8, delayMs: 40 });
  class Pages extends Spider {
    override name = 'pages';
    override startUrls = site.urls;
    override parse() {}
  }
  const { log, fields } = recording();
  const { tunables } = nodeOptions();
  const autothrottle = { startDelayMs: 300, maxDelayMs: 1_000, targetConcurrency: 1 };
  const options = { autoThrottleDebug: true, tunables: { ...tunables, autothrottle } };
  await (await startNode(await freshStore(), Pages, { log, options })).result;
  expect(fields).toHaveLength(8);
  let expected = 300;
  for (const { delayMs, latencyMs } of fields) {
    expect(latencyMs).toBeGreaterThanOrEqual(39);
    expect(Math.abs(Number(delayMs) - expected)).toBeLessThanOrEqual(2);
    expected = Math.max(Number(latencyMs), (Number(delayMs) + Number(latencyMs)) / 2);
  }
});

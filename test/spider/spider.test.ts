/** A spider is made with its arguments, logger and settings in place. */
import { expect, it } from 'vitest';
import { Request } from '../../src/http/message/request.js';
import type { Logger } from '../../src/log.js';
import { silentLogger } from '../../src/log.js';
import type { Settings } from '../../src/settings/schema.js';
import { createSpider, Spider } from '../../src/spider/spider.js';

class Probe extends Spider {
  override name = 'probe';
  override startUrls = this.args.start ? [this.args.start] : [];
}

it('a spider has its arguments, logger and settings while its fields are set', () => {
  const logged: unknown[] = [];
  const log: Logger = { ...silentLogger, info: (...given) => logged.push(given) };
  const settings = { JOB: 'x' } as unknown as Settings;
  const spider = createSpider(Probe, { args: { start: 'https://example.org/' }, log, settings });
  expect(spider.startUrls).toEqual(['https://example.org/']);
  spider.log.info('a message alone');
  spider.log.info({ page: 2 }, 'with fields');
  expect(logged).toEqual([
    [{}, 'a message alone'],
    [{ page: 2 }, 'with fields'],
  ]);
  expect(spider.settings).toBe(settings);
});

it('a spider made without a context has none of an earlier one', () => {
  createSpider(Probe, { args: { start: 'https://example.org/' } });
  expect(new Probe().startUrls).toEqual([]);
  expect(new Probe().args).toEqual({});
});

it('a spider whose constructor throws leaves no context behind', () => {
  class Broken extends Spider {
    override name = missing();
  }
  expect(() => createSpider(Broken, { args: { start: 'https://example.org/' } })).toThrow('not today');
  expect(new Probe().args).toEqual({});
});

it('has hooks that do nothing, no identity of its own for requests, and seeds as URL or JSON', async () => {
  const spider = new Probe();
  expect(await spider.opened()).toBeUndefined();
  expect(await spider.closed('finished')).toBeUndefined();
  expect(spider.fingerprint).toBeUndefined();
  expect(Object.keys(spider)).not.toContain('item');
  expect(spider.makeRequestFromData('https://example.org/')).toBeInstanceOf(Request);
});

it('says which page came when it has no method parse', () => {
  expect(() => new Probe().parse({ url: 'https://example.org/' } as never)).toThrow(
    'the spider "probe" has no method parse, which https://example.org/ was requested for',
  );
});

function missing(): string {
  throw new Error('not today');
}

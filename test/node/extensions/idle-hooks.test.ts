/** What hooks for an idle crawl give that is no request, hooks that never end, and CloseSpider in `opened()` and `closed()`. */
import { describe, expect, it } from 'vitest';
import { CloseSpider } from '../../../src/errors.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import type { Extension } from '../../../src/node/extensions/extension.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';

class Shop extends Spider {
  override name = 'shop';
}

const options = { callbackTimeoutMs: 200 };

describe('what is no request', () => {
  const given: [string, unknown, RegExp][] = [
    ['a relative URL', ['/page/2'], /"\/page\/2" cannot be requested: it has no scheme/],
    ['a number', 5, /a value of type number/],
    ['an item', [{ title: 'a' }], /a value of type object/],
    ['a callback that is no method', [new Request('http://shop.example/', { callback: 'nope' })], /"nope"/],
  ];

  it.each(given)('%s ends the node from idle(), which the message names', async (_what, value, message) => {
    class Given extends Shop {
      override idle() {
        return value as string[];
      }
    }
    const error = await crawl(await freshStore(), Given).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'hook_error', message: expect.stringMatching(message) });
    expect(error).toHaveProperty('message', expect.stringMatching(/^idle\(\) of the spider "shop" failed: /));
  });

  it.each(given)(
    '%s from an extension is logged, and the crawl is complete',
    async (_what, value, message) => {
      const extension: Extension = { spiderIdle: () => value };
      const logged: string[] = [];
      const result = await crawl(await freshStore(), Shop, {
        extensions: { './wrong.ts': extension },
        log: { ...silentLogger, error: (_fields: object, text: string) => void logged.push(text) },
      });
      expect(result).toMatchObject({ reason: 'finished' });
      expect(logged).toEqual([expect.stringMatching(message)]);
      expect(logged[0]).toMatch(/^\.\/wrong\.ts: spiderIdle failed: /);
    },
  );
});

describe('a hook that never ends', () => {
  const never = new Promise<never>(() => {});

  it.each([
    ['idle()', () => never],
    [
      'a generator of idle()',
      async function* () {
        yield await never;
      },
    ],
  ])('%s ends the node after CALLBACK_TIMEOUT', async (_what, idle) => {
    class Hanging extends Shop {
      override idle = idle as () => Promise<string[]>;
    }
    await expect(crawl(await freshStore(), Hanging, { options })).rejects.toThrow(
      'idle() of the spider "shop" failed: it was not over after 0.2 s (CALLBACK_TIMEOUT)',
    );
  });
});

describe('CloseSpider', () => {
  it('in opened() closes the run before its first page', async () => {
    class Closing extends Shop {
      override startUrls = ['http://127.0.0.1:9/'];
      override opened() {
        throw new CloseSpider('no quota');
      }
    }
    expect(await crawl(await freshStore(), Closing)).toMatchObject({
      ...{ reason: 'no quota', exitCode: 0, pages: 0, message: null },
    });
  });

  it('in closed() is no failure', async () => {
    class Closing extends Shop {
      override closed() {
        throw new CloseSpider('enough');
      }
    }
    expect(await crawl(await freshStore(), Closing)).toMatchObject({
      ...{ exitCode: 0, message: expect.stringMatching(/^nothing to crawl came/) },
    });
  });

  it('a wrong stat in opened() is named with its hook', async () => {
    class Wrong extends Shop {
      override opened() {
        this.stats.incValue('pages', Number.NaN);
      }
    }
    await expect(crawl(await freshStore(), Wrong)).rejects.toThrow(
      /^opened\(\) of the spider "shop" failed at .*idle-hooks\.test\.ts:\d+:\d+: pages: incValue takes/,
    );
  });
});

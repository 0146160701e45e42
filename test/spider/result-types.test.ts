/** What a callback may give by its type: the compiler refuses here what would fail its page. The types are the test. */
import { expect, it } from 'vitest';
import type { CallbackResults, Response } from '../../src/index.js';
import { CrawlSpider, Request, Spider } from '../../src/index.js';

interface Product {
  readonly name: string;
  readonly price: number;
}
declare const product: Product;

/** Each of these is allowed. */
class Allowed extends Spider {
  override *parse(response: Response) {
    yield { name: 'a', nested: { list: [1], none: null }, when: 'now' };
    yield product;
    yield new Request('http://a.example/');
    yield response.follow('/b', this.parse);
    yield response.followAll('a', this.sub);
    yield this.sub(response);
    yield undefined;
    yield* this.list(response);
    return response.followAll('a', this.later);
  }
  async *sub(response: Response) {
    yield { url: response.url };
    yield response.follow('/c', this.list);
  }
  async later(response: Response) {
    return [{ url: response.url }, response.follow('/d', this.one)];
  }
  list(response: Response) {
    return [...response.followAll('a', this.nothing), { n: 1 }, null];
  }
  one(response: Response) {
    return response.url === '' ? undefined : { url: response.url };
  }
  async promised(response: Response) {
    return this.sub(response);
  }
  nothing() {}
  async nothingLater() {}
  all = (response: Response) => [
    response.follow('/', this.promised),
    response.follow('/', this.nothingLater, { errback: this.nothing }),
    response.follow('/', 'later'),
  ];
}

/** Each of these is refused. */
class Refused {
  *text(): Generator<CallbackResults> {
    // @ts-expect-error a text
    yield 'text';
    // @ts-expect-error a number
    yield 1;
    // @ts-expect-error a date
    yield new Date();
    // @ts-expect-error a closure
    yield () => ({});
    // @ts-expect-error a typed array
    yield new Uint8Array(1);
    // @ts-expect-error a Map
    yield new Map([['a', 1]]);
    // @ts-expect-error a list of texts
    yield ['text'];
    // @ts-expect-error a promise of a text
    yield Promise.resolve('text');
  }
}

const wrong = {
  text: class extends Spider {
    // @ts-expect-error a text
    override *parse(response: Response) {
      yield response.url;
    }
  },
  promise: class extends Spider {
    // @ts-expect-error a promise: await it
    override *parse() {
      yield Promise.resolve({ n: 1 });
    }
  },
  selection: class extends Spider {
    // @ts-expect-error a selection: get() is missing
    override *parse(response: Response) {
      yield response.css('a');
    }
  },
  page: class extends Spider {
    // @ts-expect-error the response itself
    override *parse(response: Response) {
      yield response;
    }
  },
  returned: class extends Spider {
    // @ts-expect-error texts
    override parse(response: Response) {
      return response.css('a::text').getAll();
    }
  },
  callback: class extends Spider {
    override *parse(response: Response) {
      // @ts-expect-error a callback that gives texts
      yield response.follow('/', this.texts);
    }
    *texts() {
      yield 'text';
    }
  },
  rule: class extends CrawlSpider {
    override rules = [{ callback: this.parseItem }];
    *parseItem() {
      yield { n: 1 };
    }
  },
};

it('is checked by the compiler', () => {
  expect([Allowed, Refused, ...Object.values(wrong)]).toHaveLength(9);
});

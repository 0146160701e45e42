/** Rules that would silently have no effect, or a wrong one, are refused. */
import { describe, expect, it } from 'vitest';
import type { Response } from '../../../src/http/message/response.js';
import { CrawlSpider } from '../../../src/spider/rules/crawl-spider.js';
import { LinkExtractor } from '../../../src/spider/rules/link-extractor.js';
import { ruleProblem } from '../../../src/spider/rules/rule-problems.js';

class Shop extends CrawlSpider {
  override name = 'shop';

  constructor(rules: unknown) {
    super();
    Object.assign(this, { rules });
  }

  parseItem() {}
}

describe('rules are refused', () => {
  it('where a LinkExtractor stands in place of a rule, which would follow every link', () => {
    expect(ruleProblem(new Shop([new LinkExtractor({ allow: /product/ })]))).toBe(
      'rules[0] is a LinkExtractor; give { linkExtractor: new LinkExtractor(…) }',
    );
  });

  it('where follow is a text, which would always be true', () => {
    expect(ruleProblem(new Shop([{ allow: /a/, follow: 'no' }]))).toBe(
      'follow of rules[0] is of type string; give true or false',
    );
  });

  it('where parse of the spider replaces the one that applies them', () => {
    class Replaced extends Shop {
      override async *parse() {}
    }
    expect(ruleProblem(new Replaced([{ callback: 'parse' }]))).toMatch(
      /has rules and a parse\(\) of its own, so the rules have no effect: call it parseStartUrl/,
    );
  });
});

describe('rules are accepted', () => {
  it('where parse calls the original', () => {
    class Extended extends Shop {
      override async *parse(response: Response) {
        yield* super.parse(response);
      }
    }
    expect(ruleProblem(new Extended([{ allow: /a/, callback: 'parseItem', follow: true }]))).toBeNull();
  });

  it('where there are none, beside a parse of its own', () => {
    class Plain extends Shop {
      override async *parse() {}
    }
    expect(ruleProblem(new Plain([]))).toBeNull();
  });
});

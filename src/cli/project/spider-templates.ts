/** The modules that `crawlnode genspider` writes. */

/** What a new spider is made of. */
export interface NewSpider {
  readonly name: string;
  /** The name of the class. */
  readonly className: string;
  /** The host, with its port if it has one. */
  readonly host: string;
  readonly startUrl: string;
}

/** A template: its help text, and the text of the module. */
interface SpiderTemplate {
  readonly summary: string;
  text(spider: NewSpider): string;
}

export const spiderTemplates = {
  basic: { summary: 'a Spider with a callback', text: basic },
  crawl: { summary: 'a CrawlSpider, which follows links by rules', text: crawl },
} as const satisfies Readonly<Record<string, SpiderTemplate>>;

function basic(spider: NewSpider): string {
  return `import { type Response, Spider } from 'crawlnode';

export default class ${spider.className} extends Spider {
${members(spider)}

  *parse(response: Response) {
    yield {
      url: response.url,
      title: response.css('title::text').get(),
    };
    // Follow links with a selector: yield* response.followAll('a.next', this.parse);
  }
}
`;
}

function crawl(spider: NewSpider): string {
  return `import { CrawlSpider, type Response } from 'crawlnode';

export default class ${spider.className} extends CrawlSpider {
${members(spider)}

  // The first rule that matches a link applies to it.
  rules = [
    { allow: /\\/category\\// }, // only followed
    { allow: /\\/item\\//, callback: this.parseItem },
  ];

  *parseItem(response: Response) {
    yield {
      url: response.url,
      title: response.css('h1::text').get(),
    };
  }
}
`;
}

function members({ name, host, startUrl }: NewSpider): string {
  return [
    `  name = ${quoted(name)};`,
    `  allowedDomains = [${quoted(host)}];`,
    `  startUrls = [${quoted(startUrl)}];`,
  ].join('\n');
}

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

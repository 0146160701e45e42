/** Spiders are found by their name, and whatever is wrong with one hides no other. */
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SpiderLoadError } from '../../../src/errors.js';
import {
  type Discovery,
  discoverSpiders,
  findSpider,
  problemsOf,
  unexportedText,
} from '../../../src/spider/loading/discover.js';
import { createProject } from '../../helpers/project.js';

function spider(name: string): string {
  return `import { Spider } from 'crawlnode';\nexport default class Probe extends Spider { name = ${JSON.stringify(name)}; }\n`;
}

async function discover(files: Record<string, string>, folders = ['spiders']) {
  const project = await createProject({ files });
  return { project, discovery: await discoverSpiders(folders.map((folder) => project.path(folder))) };
}

describe('discovery', () => {
  it('finds spiders in a folder and its subfolders, by name', async () => {
    const { project, discovery } = await discover({
      'spiders/one.ts': spider('zebra'),
      'spiders/deep/er/two.js': spider('a.b_c-1'),
      'spiders/three.mjs': spider('middle'),
    });
    expect([...discovery.spiders.keys()]).toEqual(['a.b_c-1', 'middle', 'zebra']);
    expect(findSpider(discovery, 'zebra')).toMatchObject({
      name: 'zebra',
      file: project.path('spiders/one.ts'),
    });
    expect(problemsOf(discovery)).toEqual([]);
  });

  it('passes over declarations, tests, hidden and underscored names, node_modules, and other files', async () => {
    const { discovery } = await discover({
      'spiders/types.d.ts': 'export default class {}',
      'spiders/one.test.ts': 'throw new Error()',
      'spiders/one.spec.js': 'throw new Error()',
      'spiders/.hidden.ts': 'throw new Error()',
      'spiders/_base.ts': 'throw new Error()',
      'spiders/_shared/a.ts': 'throw new Error()',
      'spiders/.git/a.ts': 'throw new Error()',
      'spiders/node_modules/x/index.js': 'throw new Error()',
      'spiders/data.json': '{',
      'spiders/notes.md': '#',
    });
    expect(discovery).toMatchObject({ spiders: new Map(), broken: [], duplicates: [], missing: [] });
  });

  it('passes over helpers: no default export, or one that is no class', async () => {
    const { discovery } = await discover({
      'spiders/base.ts': `import { Spider } from 'crawlnode';\nexport class Base extends Spider {}\n`,
      'spiders/options.ts': 'export default { a: 1 };\n',
      'spiders/clean.ts': 'export default function clean() {}\n',
      'spiders/empty.ts': '',
    });
    expect(discovery.spiders.size).toBe(0);
    expect(problemsOf(discovery)).toEqual([]);
  });

  it('reads several folders and single files, each module once', async () => {
    const { discovery } = await discover(
      {
        'spiders/a.ts': spider('a'),
        'more/b.ts': spider('b'),
        'other/c.ts': spider('c'),
        'other/d.ts': spider('d'),
      },
      ['spiders', 'spiders/', 'more', 'other/c.ts'],
    );
    expect([...discovery.spiders.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('follows links to folders, and does not run in circles', async () => {
    const project = await createProject({ files: { 'elsewhere/a.ts': spider('a') } });
    await symlink(project.path('elsewhere'), project.path('spiders', 'linked'));
    await symlink(project.path('spiders'), project.path('spiders', 'self'));
    await symlink(project.path('nowhere'), project.path('spiders', 'dangling.ts'));
    const discovery = await discoverSpiders([project.path('spiders')]);
    expect([...discovery.spiders.keys()]).toEqual(['a']);
    expect(problemsOf(discovery)).toEqual([]);
  });

  it("refuses what Scrapy's names would leave without effect", async () => {
    const migrated = (member: string) =>
      `import { Spider } from 'crawlnode';\nexport default class extends Spider { name = 'old'; ${member} }\n`;
    for (const [member, use] of [
      ["start_urls = 'http://a.example/';", 'startUrls is a text; give a list'],
      ['static from_crawler() {}', 'has from_crawler, which has no effect: use this.settings'],
      ['*start() {} *startRequests() {}', 'has start and startRequests, which are the same: keep one'],
      ["start = 'http://a.example/'", 'start is not a method; make it a generator of requests'],
      ["http_user = 'me'", 'no httpAuthDomain: give the domain that they are for'],
      ["httpUser = 'me'; httpPass = 'x'", 'no httpAuthDomain: give the domain that they are for'],
      ['httpUser = 7', 'httpUser is of type number; give a text'],
      ["redis_encoding = 'latin-1'", 'has redis_encoding, which has no effect: use UTF-8'],
      [
        "startUrls = 'http://a.example/'",
        'startUrls is a text; give a list: startUrls = ["http://a.example/"]',
      ],
      ["allowedDomains = 'a.example'", 'allowedDomains is a text; give a list'],
    ] as const) {
      const { discovery } = await discover({
        'spiders/a.ts': spider('a'),
        'spiders/old.ts': migrated(member),
      });
      expect([...discovery.spiders.keys()]).toEqual(['a']);
      expect(problemsOf(discovery)[0]).toMatch(/spiders\/old\.ts: /);
      expect(problemsOf(discovery)[0]).toContain(use);
    }
  });

  it('refuses a rule whose callback is undefined; a method start is a generator of requests', async () => {
    const crawling = (member: string) =>
      `import { CrawlSpider } from 'crawlnode';\nexport default class extends CrawlSpider { name = 'rules'; ${member} }\n`;
    const { discovery } = await discover({
      'spiders/bad.ts': crawling('rules = [{ allow: /a/ }, { callback: this.parsItem }];'),
      'spiders/good.ts': spider('good').replace('{ name', '{ *start() {} name'),
    });
    expect(problemsOf(discovery)).toEqual([
      expect.stringMatching(/bad\.ts: the callback of rules\[1\] is undefined: is its name misspelt\?/),
    ]);
    expect([...discovery.spiders.keys()]).toEqual(['good']);
  });

  it('tells spiders that are exported by name only from base classes of others', async () => {
    const { discovery } = await discover({
      'spiders/base.ts': `import { Spider } from 'crawlnode';\nexport class Base extends Spider {}\n`,
      'spiders/shop.ts': `import { Base } from './base.js';\nexport default class Shop extends Base { name = 'shop'; }\n`,
      'spiders/lost.ts': `import { Spider } from 'crawlnode';\nexport class Lost extends Spider { name = 'lost'; }\n`,
    });
    expect(discovery.unexported.map(unexportedText)).toEqual([
      expect.stringMatching(/lost\.ts exports the spider Lost by name only: make it the default export/),
    ]);
  });

  it('names the file of a wanted spider that exports nothing', async () => {
    const { discovery } = await discover({
      'spiders/lost.ts': `import { Spider } from 'crawlnode';\nclass Lost extends Spider { name = 'lost'; }\n`,
      'spiders/helper.ts': 'export const helps = true;\n',
      'spiders/a.ts': spider('a'),
    });
    expect(() => findSpider(discovery, 'lost')).toThrow(
      /there is no spider "lost".*lost\.ts exports no spider: begin it with export default class … extends Spider$/,
    );
    expect(() => findSpider(discovery, 'other')).toThrow(/^there is no spider "other"; there is a$/);
  });

  it('says that item is the schema of a spider, and no name for a method', async () => {
    const { discovery } = await discover({
      'spiders/shop.ts': spider('shop').replace('{ name', '{ *item() {} name'),
    });
    expect(problemsOf(discovery)).toEqual([
      expect.stringMatching(/shop\.ts: item is a method.*rename the method/),
    ]);
  });

  it('tells of a folder that does not exist', async () => {
    const { discovery } = await discover({ 'spiders/a.ts': spider('a') }, [
      ...['spiders', 'spider', 'shop.spiders'],
    ]);
    expect([...discovery.spiders.keys()]).toEqual(['a']);
    expect(problemsOf(discovery)).toEqual([
      expect.stringMatching(/^the folder .*\/spider of SPIDER_MODULES does not exist; "crawlnode init/),
      expect.stringMatching(/shop\.spiders of SPIDER_MODULES .* not Python modules: shop\/spiders, or/),
    ]);
  });

  it('is of spiders with their arguments, where they are known', async () => {
    const needs = `import { Spider } from 'crawlnode';
export default class Needs extends Spider { name = 'needs'; host = new URL(this.args.start!).host; }
`;
    const project = await createProject({ files: { 'spiders/needs.ts': needs } });
    const folders = [project.path('spiders')];
    expect(problemsOf(await discoverSpiders(folders))[0]).toMatch(
      /needs\.ts.*constructing it failed at .*Invalid URL/,
    );
    const given = await discoverSpiders(folders, { args: { start: 'https://example.org/' } });
    expect([...given.spiders.keys()]).toEqual(['needs']);
  });

  it('finds the examples that come along', async () => {
    const discovery = await discoverSpiders([fileURLToPath(new URL('../../../spiders', import.meta.url))]);
    expect([...discovery.spiders.keys()]).toEqual(['books', 'docs', 'login', 'quotes']);
    expect(problemsOf(discovery)).toEqual([]);
  });
});

describe('a module that is no usable spider', () => {
  it.each([
    ['throws', "throw new Error('not today');\n", /throws\.ts.* does not load: Error: not today$/],
    [
      'foreign',
      'export default class Foreign { name = "foreign"; }\n',
      /the class Foreign, does not extend the Spider/,
    ],
    ['unnamed', spider(''), /the spider Probe has no name; give it one/],
    ['spaced', spider('two words'), /the name "two words" of its spider is not of 1 to 64 letters/],
    ['long', spider('x'.repeat(65)), /is not of 1 to 64 letters/],
  ])('%s is told by its file, and hides no other', async (name, text, message) => {
    const { project, discovery } = await discover({
      [`spiders/${name}.ts`]: text,
      'spiders/good.ts': spider('good'),
    });
    expect([...discovery.spiders.keys()]).toEqual(['good']);
    expect(discovery.broken.map(({ file }) => file)).toEqual([project.path('spiders', `${name}.ts`)]);
    expect(discovery.broken[0]!.error).toBeInstanceOf(SpiderLoadError);
    expect(problemsOf(discovery)).toEqual([expect.stringMatching(message)]);
    expect(problemsOf(discovery)[0]).toContain(path.join('spiders', `${name}.ts`));
    expect(findSpider(discovery, 'good').name).toBe('good');
  });
});

describe('a spider asked for', () => {
  it('that two modules have is an error naming both', async () => {
    const { project, discovery } = await discover({
      'spiders/a.ts': spider('same'),
      'spiders/b.ts': spider('same'),
      'spiders/c.ts': spider('other'),
    });
    expect([...discovery.spiders.keys()]).toEqual(['other']);
    const message = messageOf(discovery, 'same');
    expect(message).toContain('two spiders are named "same"');
    for (const file of ['a.ts', 'b.ts']) expect(message).toContain(project.path('spiders', file));
    expect(problemsOf(discovery)).toEqual([message]);
  });

  it('that is not there is answered with the nearest names', async () => {
    const { discovery } = await discover({
      'spiders/a.ts': spider('quotes'),
      'spiders/b.ts': spider('news'),
    });
    expect(messageOf(discovery, 'qoutes')).toBe('there is no spider "qoutes"; did you mean quotes?');
  });

  it('that is like no other is answered with what there is', async () => {
    const { discovery } = await discover({
      'spiders/a.ts': spider('quotes'),
      'spiders/b.ts': spider('news'),
    });
    expect(messageOf(discovery, 'something-else')).toBe(
      'there is no spider "something-else"; there are news, quotes',
    );
  });

  it('may be in a module that does not load, so those are named', async () => {
    const { discovery } = await discover({ 'spiders/quotes.ts': "throw new Error('not today');\n" });
    expect(messageOf(discovery, 'quotes')).toMatch(/^\S*quotes\.ts\S* does not load: Error: not today$/);
  });

  it('where there is none at all is answered with where was looked', async () => {
    const { discovery } = await discover({}, ['spiders', 'nowhere']);
    expect(messageOf(discovery, 'quotes')).toMatch(
      /^there is no spider "quotes"; SPIDER_MODULES has no spider at all, in .*spiders, .*nowhere \(no such folder\)$/,
    );
  });
});

function messageOf(discovery: Discovery, name: string): string {
  try {
    findSpider(discovery, name);
  } catch (error) {
    expect(error).toBeInstanceOf(SpiderLoadError);
    return (error as Error).message;
  }
  throw new Error(`${name} was found`);
}

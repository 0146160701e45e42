/** What somebody sees whose first spider does not do what was meant. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { runCli, startCli } from '../helpers/cli.js';
import { createProject, type Project } from '../helpers/project.js';
import { type Site, startSite } from '../helpers/sites/site.js';

const spider = (name: string, startUrls: readonly string[], how = 'default ') => `
import { Spider, type Response } from 'crawlnode';
export ${how}class Shop extends Spider {
  name = '${name}';
  startUrls = ${JSON.stringify(startUrls)};
  *parse(response: Response) {
    yield { title: response.css('title::text').get() };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

describe('the first crawl of a newcomer', () => {
  let project: Project;
  let site: Site;
  beforeEach(async () => {
    project = await createProject({ settings: { RETRY_ENABLED: false } });
    site = await startSite({ pages: 5 });
  });
  afterEach(async () => {
    await site.close();
    await project.remove();
  });
  const run = (...args: string[]) => runHere(args, { cwd: project.dir });
  const warnings = (stderr: string) =>
    stderr
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: string; url?: string; msg: string })
      .filter(({ level, url }) => level === 'warn' && url !== undefined);

  it('a start page that comes to nothing is told with the reason, the first of many', async () => {
    const dead = [`${site.origin}/none`, 'http://127.0.0.1:1/'];
    const many = Array.from({ length: 20 }, (_, n) => `${site.origin}/none/${n}`);
    await project.write('spiders/shop.ts', spider('shop', [...dead, site.url]));
    await project.write('spiders/many.ts', spider('many', many));
    const { code, stderr } = await run('crawl', 'shop', '--exit-when-done');
    expect(code).toBe(0);
    expect(stderr).toContain(`"store":${JSON.stringify(`${project.dir}/.crawlnode`)}`);
    expect(warnings(stderr).sort((a, b) => (a.msg < b.msg ? -1 : 1))).toMatchObject([
      { url: dead[1], msg: expect.stringContaining('a start page: 127.0.0.1:1: the connection was refused') },
      { url: dead[0], msg: expect.stringContaining('answered 404') },
    ]);
    const none = await run('crawl', 'many', '--exit-when-done');
    expect(warnings(none.stderr)).toHaveLength(10);
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'no page of the run succeeded: 20 pages answered with an error such as 404',
      ),
    });
  });

  it('a node that has done all there was, or has nothing to do, says that it waits for seeds', async () => {
    await project.write('spiders/shop.ts', spider('shop', [site.url]));
    await project.write('spiders/none.ts', spider('none', []));
    for (const name of ['shop', 'none']) {
      const node = startCli(['crawl', name], { cwd: project.dir });
      await node.waitForOutput(`this node waits for seeds (\\"crawlnode seed ${name} URL\\")`);
      node.kill();
      expect(await node.wait()).toMatchObject({ code: 0 });
    }
  });

  it('a spider that is exported by name is pointed at', async () => {
    await project.write('spiders/shop.ts', spider('shop', [], ''));
    expect(await run('crawl', 'shop')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('spiders/shop.ts exports the spider Shop by name only'),
    });
    expect(await run('list')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('spiders/shop.ts exports the spider Shop by name only'),
    });
  });

  it('what is wrong with startUrls is said with spider and place, without a stack', async () => {
    await project.write('spiders/shop.ts', spider('shop', ['foo']));
    expect(await run('crawl', 'shop', '-s', 'LOG_FORMAT=text')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /crawlnode: startUrls\[0\] of the spider "shop": .*"foo".*has no scheme[^\n]*\n$/,
      ),
    });
    await project.write('spiders/text.ts', spider('text', 'http://a.example/' as never));
    const { code, stderr } = await run('crawl', 'text', '-s', 'LOG_FORMAT=text');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('startUrls is a text; give a list: startUrls = ["http://a.example/"]'),
    });
  });

  it('items go to their file alone, and a crawl without any says so; the doctor finds one that failed altogether', async () => {
    await project.write('spiders/shop.ts', spider('shop', [site.url]));
    await run('crawl', 'shop', '-o', 'items.jsonl', '--exit-when-done');
    expect(JSON.parse((await run('stats', 'shop', '--json')).stdout)).toMatchObject({ done: 5, items: 0 });
    await run('crawl', 'shop', '--exit-when-done', '--job', 'list');
    expect(JSON.parse((await run('stats', 'shop', '--job', 'list', '--json')).stdout)).toMatchObject({
      items: 5,
    });

    expect((await run('crawl', 'shop', '--exit-when-done', '--job', 'two')).stdout).toContain(
      'items: in the items list; "crawlnode items shop --job two list" shows them',
    );
    const parse = (name: string, body: string) =>
      spider(name, [site.url]).replace(/\*parse[\s\S]*\n\}/, `*parse(response: Response) { ${body} }\n}`);
    await project.write('spiders/bare.ts', parse('bare', "if (response.css('.none').length > 0) yield {};"));
    expect((await run('crawl', 'bare', '--exit-when-done')).stdout).toContain('no page gave an item');
    await project.write(
      'pipelines/strict.ts',
      'import { DropItem } from "crawlnode"; export default () => { throw new DropItem("price missing"); };',
    );
    const strict = ['-s', 'ITEM_PIPELINES={"./pipelines/strict.ts":1}', '--job', 'strict'];
    const dropped = await run('crawl', 'shop', '--exit-when-done', ...strict);
    expect(dropped.stdout).toMatch(
      /^dropped by \.\/pipelines\/strict\.ts: 5 items, such as http:\S+: price missing$/m,
    );
    expect(dropped.stdout).not.toContain('no page gave an item');
    expect((await run('stats', 'shop', '--job', 'strict')).stdout).toMatch(
      /item_dropped_count\/\.\/pipelines\/strict\.ts +5$/m,
    );
    const odd = "yield response.url.endsWith('/') ? { a: 1 } : { a: 1, b: 2, c: 3 };";
    await project.write(
      'spiders/odd.ts',
      parse('odd', `${odd} yield* response.followAll(response.links(), this.parse);`),
    );
    const csv = await run('crawl', 'odd', '-o', 'odd.csv', '--exit-when-done');
    expect(csv.stdout).toMatch(/^\S+odd\.csv has no column for b, c of 4 items; FEEDS may name/m);
    const feeds = JSON.stringify({ 'none.csv': { fields: ['a', 'aa'] } });
    const none = await run('crawl', 'odd', '--exit-when-done', '--job', 'none', '-s', `FEEDS=${feeds}`);
    expect(none.stdout).toMatch(/^\S+none\.csv has no value for aa \(fields of FEEDS\)/m);
    await project.write(
      'spiders/closes.ts',
      spider('closes', [site.url]).replace('*parse', 'closed() { throw new Error("no mail"); }\n  *parse'),
    );
    const closed = await run('crawl', 'closes', '--exit-when-done');
    const fatal = closed.stderr.trim().split('\n').at(-1)!;
    expect(JSON.parse(fatal)).toMatchObject({
      ...{ level: 'fatal', code: 'hook_error', exitCode: 1 },
      msg: expect.stringContaining('closed() of the spider "closes" failed'),
    });
    await project.write('spiders/bad.ts', parse('bad', "response.css('a[').get();"));
    const failing = await run('crawl', 'bad', '--exit-when-done');
    expect(failing.stderr).toContain('"reason":"callback_error"');
    expect(await run('doctor', 'bad')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no page of this crawl succeeded: 1 request failed'),
    });
    // Crawl by crawl, since to check many takes long; as JSON one document.
    const all = await run('doctor');
    expect(all).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/\nproblem +bad: [\s\S]*\nok +closes: [\s\S]*\n1 problem\n$/),
    });
    expect(JSON.parse((await run('doctor', '--json')).stdout).findings).toHaveLength(
      all.stdout.trim().split('\n').length - 1,
    );
    await project.write(
      'spiders/hasty.ts',
      parse('hasty', 'void (async () => { throw new Error("no hook"); })(); yield { a: 1 };'),
    );
    for (const workers of ['1', '2']) {
      const job = ['--job', `hasty-${workers}`, '--workers', workers];
      const args = ['crawl', 'hasty', '--exit-when-done', ...job];
      expect(await runCli(args, { cwd: project.dir })).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^1 promise was rejected and nobody awaited it: \S*spiders\/hasty\.ts:\d+:\d+: no hook$/m,
        ),
      });
    }
    await project.write(
      'spiders/gone.ts',
      parse(
        'gone',
        'yield { a: 1 }; for (const n of [1, 2]) yield response.follow("/gone/" + n, this.parse);',
      ),
    );
    await run('crawl', 'gone', '--exit-when-done');
    await run('reset', 'gone', '--only', 'queue', '--yes');
    await run('crawl', 'gone', '--exit-when-done');
    expect(await run('doctor', 'gone')).toMatchObject({ code: 0 });
  });

  it('items go to a file whose format is named as in Scrapy', async () => {
    await project.write('spiders/shop.ts', spider('shop', [site.url]));
    const { stdout } = await run('crawl', 'shop', '-O', 'items:csv', '--exit-when-done');
    expect(stdout).toContain(`items: ${project.path('items')}\n`);
    expect((await project.read('items')).split('\r\n')).toHaveLength(1 + 5 + 1);
  });
});

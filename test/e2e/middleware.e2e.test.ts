/** The examples of docs/guide/middleware.md in a project, on both engines; one of them through the executable. */
import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pages } from '../docs/pages.js';
import { runHere } from '../helpers/cli/run-here.js';
import { runCli } from '../helpers/cli.js';
import { engines, projectOn } from '../helpers/engine-project.js';
import { type Site, startSite } from '../helpers/sites/site.js';

/** `middlewares/NAME.ts` → its text, as the page shows it. */
const examples = Object.fromEntries(
  pages
    .find(({ file }) => file === 'docs/guide/middleware.md')!
    .blocks.flatMap(({ language, text }) => {
      const name = /^\/\/ (middlewares\/\w+\.ts)\n/.exec(text)?.[1];
      return language === 'ts' && name !== undefined ? [[name, text] as const] : [];
    }),
);

const spider = `
import { Spider } from 'crawlnode';
export default class Shop extends Spider {
  name = 'shop';
  startUrls = [this.args.start];
  *parse(response) {
    yield { path: new URL(response.url).pathname, language: response.request.headers['accept-language'] };
    yield* response.followAll('a', this.parse);
  }
}
`;

const modules = (numbers: Record<string, number | null>, kind = 'DOWNLOADER_MIDDLEWARES') => [
  '-s',
  `${kind}=${JSON.stringify(numbers)}`,
];

it('the page has the examples that are run here', () => {
  expect(Object.keys(examples).sort()).toEqual(
    ['cache', 'drop', 'language', 'sign', 'tag', 'token'].map((name) => `middlewares/${name}.ts`),
  );
});

describe.each(engines)('middleware on the %s engine', (engine) => {
  const here = projectOn(engine, { files: { ...examples, 'spiders/shop.ts': spider } });
  const crawl = (site: Site, ...more: string[]) => crawlThrough(runHere, site, ...more);
  const crawlThrough = async (run: typeof runHere | typeof runCli, site: Site, ...more: string[]) => {
    const args = ['crawl', 'shop', '-a', `start=${site.url}`, '--exit-when-done', '-O', 'out.jsonl'];
    const result = await run([...args, '-s', 'ROBOTSTXT_OBEY=false', ...more], { cwd: here.project.dir });
    expect(result, result.stderr).toMatchObject({ code: 0 });
    return { ...result, items: await here.project.readJsonLines('out.jsonl') };
  };
  const sound = () => here.look((frontier) => frontier.verify(), 'shop');

  it('signs every request, and adds headers', async () => {
    const sent: (readonly unknown[])[] = [];
    const site = await startSite({
      pages: 3,
      handler: ({ url, headers }) => {
        sent.push([url, headers['x-signature'], headers['accept-language']]);
        return false;
      },
    });
    const numbers = { './middlewares/sign.ts': 450, './middlewares/language.ts': 451 };
    const { items } = await crawl(site, ...modules(numbers));
    expect(items).toHaveLength(3);
    expect(items[0]).toMatchObject({ language: 'fr' });
    const signature = (url: string) => createHmac('sha256', 'secret').update(url).digest('hex');
    expect(sent).toHaveLength(3);
    for (const [path, signed, language] of sent) {
      expect([signed, language]).toEqual([signature(`${site.origin}${path}`), 'fr']);
    }
  });

  it('answers from a cache: the second crawl asks the site nothing, and counts no page', async () => {
    const site = await startSite({ pages: 5 });
    const numbers = modules({ './middlewares/cache.ts': 901 });
    // In processes of their own, as the example writes to the working folder.
    const first = await crawlThrough(runCli, site, ...numbers);
    expect(readdirSync(here.project.path('cache'))).toHaveLength(5);
    site.clearLog();
    const second = await crawlThrough(runCli, site, ...numbers, '--job', 'again', '--max-pages', '1');
    expect(site.log).toEqual([]);
    const byPath = (a: Record<string, unknown>, b: Record<string, unknown>) =>
      String(a.path).localeCompare(String(b.path));
    expect(second.items.sort(byPath)).toEqual(first.items.sort(byPath));
    expect(second.stdout).toContain('finished');
    expect(await sound()).toEqual([]);
  });

  it('drops pages, which the summary counts with an example', async () => {
    const site = await startSite({
      pages: 2,
      handler: (request, response) => {
        if (request.url !== '/') return false;
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<a href="/?print=1">1</a><a href="/?print=2">2</a>');
        return true;
      },
    });
    const { stdout, items } = await crawl(site, ...modules({ './middlewares/drop.ts': 450 }));
    expect(items).toHaveLength(1);
    expect(site.log.map(({ path }) => path)).toEqual(['/']);
    expect(stdout).toContain(`dropped by ./middlewares/drop.ts: 2 pages, such as ${site.origin}/?print=`);
  });

  it('may take two seconds: the site still gets its requests no closer than the delay', async () => {
    const site = await startSite({ pages: 3 });
    const numbers = modules({ './middlewares/token.ts': 450 });
    await crawl(site, ...numbers, '-s', 'DOWNLOAD_DELAY=0.4', '-s', 'RANDOMIZE_DOWNLOAD_DELAY=false');
    const times = site.log.map(({ atMs }) => atMs).sort((a, b) => a - b);
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    const gaps = times.slice(1).map((time, n) => time - times[n]!);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(350);
    expect(await sound()).toEqual([]);
  });

  it('of a spider changes items', async () => {
    const site = await startSite({ pages: 2 });
    const numbers = modules({ './middlewares/tag.ts': 543 }, 'SPIDER_MIDDLEWARES');
    const { items } = await crawl(site, ...numbers);
    expect(items.map(({ from }) => from).sort()).toEqual([...site.urls].sort());
  });
});

describe('a module that is no middleware', () => {
  const here = projectOn('embedded', {
    files: {
      'spiders/shop.ts': spider,
      'middlewares/snake.ts': 'export default { process_request() {} };',
      'middlewares/empty.ts': 'export default class Empty { open() {} }',
      'middlewares/opening.ts':
        "export default { open() { throw new Error('no licence'); }, processRequest() {} };",
    },
  });
  const refusal = async (name: string) => {
    const args = ['crawl', 'shop', '-a', 'start=http://127.0.0.1:9/', '--exit-when-done'];
    const { code, stderr } = await runHere([...args, ...modules({ [name]: 450 })], { cwd: here.project.dir });
    return `${code}: ${stderr}`;
  };

  it('is refused by name before the crawl begins', async () => {
    expect(await refusal('./middlewares/snake.ts')).toMatch(
      /^2: .*has process_request: call it processRequest/s,
    );
    expect(await refusal('./middlewares/empty.ts')).toMatch(
      /^2: .*is no downloader middleware: it has none of/s,
    );
    expect(await refusal('./middlewares/sing.ts')).toMatch(
      /^2: .*there is no file .*sing\.ts.*\.\/middlewares\/snake\.ts/s,
    );
    expect(await refusal('signing')).toMatch(/^2: .*neither built in nor the path of a module/s);
  });

  it('ends the command when its open() throws', async () => {
    expect(await refusal('./middlewares/opening.ts')).toMatch(
      /^1: .*open\(\) of \S*opening\.ts failed: no licence \(\S*opening\.ts:\d+:\d+\)/s,
    );
  });
});

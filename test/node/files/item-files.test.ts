/** Files of items: an item comes when all its files are there or have failed, once. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { projectOn } from '../../helpers/engine-project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  startUrls = [this.args.start];
  *parse(response) {
    const { files, follow } = response.json();
    for (const file_urls of files) yield { title: 'page ' + response.url.split('/').pop(), file_urls };
    for (const url of follow ?? []) yield response.follow(url);
  }
}
`;

const lastStage = `export default ({ item }) => ({ ...item, files: item.files, last: true });\n`;

/** An item with its results, the URLs without their origin. */
interface Found {
  readonly title: string;
  readonly files?: readonly { readonly url: string; readonly path: string | null; readonly status: string }[];
  readonly last?: boolean;
}

describe('files of items', () => {
  const here = projectOn('embedded', {
    settings: {
      ...{ FILES_STORE: 'files', FILES_STORE_TIMEOUT: 0.1, RETRY_BACKOFF: 0.05, RETRY_TIMES: 1 },
      ITEM_PIPELINES: { FilesPipeline: 1, './pipelines/last.ts': 300 },
    },
    files: { 'spiders/news.ts': spider, 'pipelines/last.ts': lastStage },
  });

  /** A site whose pages say which files they have; other paths answer as told, else with their own name. */
  const siteOf = (
    pages: Readonly<
      Record<string, { readonly files: readonly (readonly string[])[]; readonly follow?: string[] }>
    >,
    answers: Readonly<Record<string, number | { readonly status: number; readonly location: string }>> = {},
  ): Promise<Site> =>
    startSite({
      handler: ({ url = '/', headers }, response) => {
        const page = pages[url];
        const answer = answers[url] ?? 200;
        if (page !== undefined) {
          const absolute = page.files.map((urls) => urls.map((file) => `http://${headers.host}${file}`));
          response.end(JSON.stringify({ ...page, files: absolute }));
        } else if (url === '/robots.txt') response.end('User-agent: *\nDisallow: /secret');
        else if (typeof answer === 'number')
          response.writeHead(answer).end(answer === 200 ? `I am ${url}` : 'no');
        else response.writeHead(answer.status, { location: answer.location }).end();
        return true;
      },
    });

  const crawlTo = async (code: number, site: Site, ...more: string[]) => {
    const args = ['crawl', 'news', '-a', `start=${site.origin}/p1`, '--exit-when-done', '-O', 'out.jsonl'];
    const result = await runHere([...args, ...more], { cwd: here.project.dir });
    expect(result, result.stderr).toMatchObject({ code });
    expect(await here.look((frontier) => frontier.verify())).toEqual([]);
    return here.project.readJsonLines<Found>('out.jsonl');
  };
  const crawl = (site: Site, ...more: string[]) => crawlTo(0, site, ...more);
  const outcomes = (items: readonly Found[], site: Site) =>
    items.map(({ title, files = [] }) => [
      title,
      ...files.map((file) => {
        const { url, status, reason } = file as { url: string; status: string; reason?: string };
        return `${url.replace(site.origin, '')} ${reason ?? status}`;
      }),
    ]);
  const asked = (site: Site, path: string) => site.log.filter((entry) => entry.path === path).length;
  const counters = () => here.look(async (frontier) => (await frontier.snapshot()).counters);

  it('an item has each of its files in its order, also those that failed, and then passes the other pipelines', async () => {
    const site = await siteOf(
      { '/p1': { files: [['/a.pdf', '/gone.pdf', '/b.txt'], ['/a.pdf'], []] } },
      { '/gone.pdf': 404 },
    );
    const items = await crawl(site);
    expect(outcomes(items, site).sort()).toEqual([
      ['page p1'],
      ['page p1', '/a.pdf downloaded', '/gone.pdf http_404', '/b.txt downloaded'],
      ['page p1', '/a.pdf uptodate'],
    ]);
    expect(items.every(({ last }) => last)).toBe(true);
    for (const { url, path } of items.flatMap(({ files = [] }) => files)) {
      if (path === null) continue;
      expect(readFileSync(here.project.path('files', path), 'utf8')).toBe(`I am ${new URL(url).pathname}`);
    }
    expect(readdirSync(here.project.path('files', '.unfinished'))).toEqual([]);
    expect(asked(site, '/a.pdf')).toBe(1);
    expect(await counters()).toMatchObject({
      ...{ item_scraped_count: 3, file_count: 4 },
      ...{ 'file_status_count/downloaded': 2, 'file_status_count/failed': 1 },
      'file_status_count/uptodate': 1,
    });
  });

  it('files obey robots.txt and a limit of their size, are retried, and follow redirects only where the setting says so', async () => {
    const site = await siteOf(
      { '/p1': { files: [['/secret/a.pdf', '/broken.pdf', '/moved.pdf', '/very-large.pdf']] } },
      { '/broken.pdf': 503, '/moved.pdf': { status: 302, location: '/b.pdf' } },
    );
    const items = await crawl(site, '-s', 'ROBOTSTXT_OBEY=true', '-s', 'FILES_MAXSIZE=15');
    const reasons = ['/secret/a.pdf robots_forbidden', '/broken.pdf http_503', '/moved.pdf http_302'];
    expect(outcomes(items, site)).toEqual([['page p1', ...reasons, '/very-large.pdf too_large']]);
    expect(asked(site, '/secret/a.pdf')).toBe(0);
    expect(asked(site, '/broken.pdf')).toBe(2);
    const again = await crawl(site, '--job', 'two', '-s', 'MEDIA_ALLOW_REDIRECTS=true');
    expect(outcomes(again, site)[0]?.[3]).toBe('/moved.pdf downloaded');
    expect(readFileSync(here.project.path('files', again[0]!.files![2]!.path!), 'utf8')).toBe('I am /b.pdf');
  });

  it('an item that waits when the crawl is cut off comes with the next run, and keeps its id', async () => {
    await here.project.write(
      'pipelines/note.ts',
      `import { appendFileSync } from 'node:fs';
export default class { committed(batch) { appendFileSync(new URL('../ids.jsonl', import.meta.url), batch.map((b) => JSON.stringify(b)).join('\\n') + '\\n'); } }
`,
    );
    const noting = `ITEM_PIPELINES=${JSON.stringify({ FilesPipeline: 1, './pipelines/note.ts': 2 })}`;
    const site = await siteOf({ '/p1': { files: [['/a.pdf', '/b.pdf'], [], ['/c.pdf']] } });
    expect(await crawl(site, '--max-pages', '2', '-s', noting)).toHaveLength(1);
    expect(await crawl(site, '-s', noting)).toHaveLength(3);
    const ids = (await here.project.readJsonLines<{ id: string; item: Found }>('ids.jsonl')).map(
      ({ id }) => id,
    );
    const [page] = ids[0]!.split('-');
    expect(ids.sort()).toEqual([`${page}-1`, `${page}-2`, `${page}-3`]);
  });

  it('a request that cannot go on fails with its item, and a retry goes on', async () => {
    const failed = async () => {
      const list = await runHere(['failed', 'news', 'list', '--json'], { cwd: here.project.dir });
      expect(await runHere(['failed', 'news', 'retry'], { cwd: here.project.dir })).toMatchObject({
        code: 0,
      });
      return list.stdout;
    };
    const site = await siteOf({ '/p1': { files: [['/a.pdf']] } });
    expect(await crawl(site, '--max-pages', '1')).toEqual([]);
    // No page of that run succeeds.
    expect(await crawlTo(1, site, '-s', 'ITEM_PIPELINES={}')).toEqual([]);
    expect(await failed()).toContain('"reason":"bad_record"');
    rmSync(here.project.path('files'), { recursive: true });
    await here.project.write('files/full', 'a file where the folder should be');
    expect(await crawlTo(1, site)).toEqual([]);
    expect(await failed()).toContain('"reason":"files_unwritable"');
    rmSync(here.project.path('files/full'));
    expect(outcomes(await crawl(site), site)).toEqual([['page p1', '/a.pdf downloaded']]);
  });

  it.each(['gs://bucket/x', 'ftp://files.example/x', 's3://bucket/../x', 's3://', 's3:/bucket/x'])(
    '%s is refused by name, with what to use instead',
    async (place) => {
      const refused = await runHere(['crawl', 'news', '-s', `FILES_STORE=${place}`], {
        cwd: here.project.dir,
      });
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('s3://BUCKET/FOLDER') });
    },
  );
});

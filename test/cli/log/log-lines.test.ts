/** The log in a pipe: one JSON object per line, in which no key stands twice. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli } from '../../helpers/cli.js';
import { projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { startSite } from '../../helpers/sites/site.js';

const here = projectOn('embedded', {
  settings: { NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1 },
  files: {
    'spiders/news.ts': `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  *parse(response: Response) {
    this.log.info({ node: 'n', spider: 's', level: 'l', time: 't', msg: 'm', free: 1 }, 'of the spider');
    this.log.info('see "crawlnode doctor SPIDER --repair"');
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`,
  },
});

/** JSON is YAML, whose parser refuses a map with a key twice. */
function strictly(line: string): Record<string, unknown> {
  const document = parseDocument(line, { uniqueKeys: true });
  expect(document.errors, line).toEqual([]);
  return JSON.parse(line);
}

it('each line of a whole run is strict JSON, whatever fields are logged', async () => {
  const site = await startSite({ pages: 3 });
  await here.look((frontier) => joinAs(frontier, { id: 'doomed' }));
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  await run('seed', 'news', `${site.url}page/1.html`);
  const { stderr, code } = await run('crawl', 'news', '-L', 'DEBUG', '-s', 'MAX_IDLE_TIME_BEFORE_CLOSE=3');
  await site.close();
  expect(code, stderr).toBe(0);
  const lines = stderr.trim().split('\n').map(strictly);
  expect(lines.length).toBeGreaterThan(5);
  expect(lines).toContainEqual(expect.objectContaining({ deadNode: 'doomed' }));
  // The frontier does not know the command line.
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'see "crawlnode doctor news --repair"' }));
  const own = lines.find(({ msg }) => msg === 'of the spider');
  expect(own).toMatchObject({ level: 'info', spider: 'news', free: 1, node_: 'n', spider_: 's', msg_: 'm' });
  const start = lines.find(({ msg }) => String(msg).startsWith('crawling news'));
  expect(Object.entries(start ?? {}).filter(([, value]) => [0, null, false].includes(value as null))).toEqual(
    [],
  );
});

describe('the last line of a crawl that fails', () => {
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });

  it('is JSON in a pipe, also before a node starts, and text with LOG_FORMAT', async () => {
    const inPipe = await run('crawl', 'nwes');
    expect(inPipe.code).toBe(2);
    expect(inPipe.stderr.trim().split('\n').map(strictly)).toEqual([
      expect.objectContaining({ level: 'fatal', exitCode: 2, msg: expect.stringContaining('"nwes"') }),
    ]);
    const asText = await run('crawl', 'nwes', '-s', 'LOG_FORMAT=text');
    expect(asText.stderr).toMatch(/^crawlnode: .*"nwes"/);
  });

  it('stays text in a pipe for a command that does not crawl', async () => {
    expect((await run('failed', 'nwes', 'list')).stderr).toMatch(/^crawlnode: .*"nwes"/);
  });
});

describe('LOG_FORMAT', () => {
  const crawl = (format: string, ...args: string[]) =>
    runCli(['crawl', 'news', '-s', `LOG_FORMAT=${format}`, '-s', 'MAX_IDLE_TIME_BEFORE_CLOSE=1', ...args], {
      cwd: here.project.dir,
    });

  it.each([['1'], ['2']])(
    'text gives lines of text in a pipe and in a file, from %s workers',
    async (workers) => {
      const { stderr, code } = await crawl('text', '--workers', workers);
      expect(code, stderr).toBe(0);
      for (const line of stderr.trim().split('\n')) expect(line).toMatch(/^\d\d:\d\d:\d\d [A-Z]+ +\S/);
      await crawl('text', '--logfile', `text${workers}.log`);
      expect(await readFile(here.project.path(`text${workers}.log`), 'utf8')).toMatch(
        /^\d\d:\d\d:\d\d INFO /,
      );
    },
  );

  it('another value is refused', async () => {
    const { code, stderr } = await crawl('%(message)s');
    expect(code).toBe(2);
    expect(stderr).toContain('expected auto, text or json');
  });
});

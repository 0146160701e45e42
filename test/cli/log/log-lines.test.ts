/** The log in a pipe: one JSON object per line, in which no key stands twice. */
import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { runHere } from '../../helpers/cli/run-here.js';
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
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map(strictly);
  expect(lines.length).toBeGreaterThan(5);
  expect(lines).toContainEqual(expect.objectContaining({ deadNode: 'doomed' }));
  const own = lines.find(({ msg }) => msg === 'of the spider');
  expect(own).toMatchObject({ level: 'info', spider: 'news', free: 1, node_: 'n', spider_: 's', msg_: 'm' });
});

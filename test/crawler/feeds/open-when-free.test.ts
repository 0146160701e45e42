/** A node that starts while another process has its file of items: it waits for one that ends soon, and refuses any other. */
import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openWhenFree } from '../../../src/crawler/feeds/open-when-free.js';
import { FeedHeldError } from '../../../src/errors.js';
import { silentLogger } from '../../../src/log.js';
import { runCli, startCli } from '../../helpers/cli.js';
import { createProject, recordsOf } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  startUrls = [this.args.start];
  *parse(response) {
    yield { url: response.url };
    yield* response.followAll(response.links());
  }
}
`;

const held = (isBrief: boolean | null) => new FeedHeldError('held', { holder: 'process 5 (x)', isBrief });

/** Opens after these errors, and tells what was logged. */
async function openAfter(errors: FeedHeldError[], drain = new AbortController().signal) {
  const said: string[] = [];
  const log = { ...silentLogger, info: (_: object, message: string) => void said.push(message) };
  const open = async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return 'open';
  };
  const opened = await openWhenFree(open, { file: 'a.jsonl', drain, log }).catch((error: unknown) => error);
  return { opened, said, left: errors.length };
}

it('waits for a writer of what a dead node left, and while nobody is known, and says so once', async () => {
  expect(await openAfter([held(true), held(null), held(true)])).toEqual({
    opened: 'open',
    said: [
      'process 5 (x) writes what a dead node left for this file; waiting for up to 30 s until it is free',
      'the file is free now',
    ],
    left: 0,
  });
  expect((await openAfter([])).said).toEqual([]);
});

it('refuses at once where a crawl writes the file, also when it comes during the wait, and after a signal', async () => {
  expect(await openAfter([held(false), held(true)])).toMatchObject({ opened: held(false), left: 1 });
  expect(await openAfter([held(true), held(false), held(true)])).toMatchObject({ left: 1 });
  expect(await openAfter([held(true), held(true)], AbortSignal.abort())).toMatchObject({ left: 1, said: [] });
});

it('a crawl begins when the process that writes the rest of its file has ended', {
  timeout: 180_000,
}, async () => {
  const site = await startSite({ pages: 3 });
  const project = await createProject({ files: { 'spiders/news.ts': spider, 'out.jsonl': '' } });
  const file = project.path('out.jsonl');
  const { dev, ino } = statSync(file, { bigint: true });
  const args = ['news', '-a', `start=${site.url}`, '--exit-when-done', '-o', 'out.jsonl'];
  const writer = recordsOf('news').lock({ dev, ino }, file, false)!;
  const refused = await runCli(['crawl', ...args], { cwd: project.dir });
  expect(refused).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('(news:requests): give this crawl another'),
  });
  writer.release();
  const brief = recordsOf('news').lock({ dev, ino }, file, true)!;
  const node = startCli(['crawl', ...args], { cwd: project.dir });
  await node.waitForOutput('waiting for up to 30 s');
  brief.release();
  expect(await node.wait()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the file is free now'),
  });
  expect(await project.readJsonLines('out.jsonl')).toHaveLength(3);
});

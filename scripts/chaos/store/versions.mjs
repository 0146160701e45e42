/** R20: two versions of crawlnode with different data formats on one Redis. */
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beginCrawl } from '../harness/crawling.mjs';
import { crawl, endOf } from '../harness/project.mjs';
import { tempDir, until } from '../harness/stage.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const REFUSED = 3;

export const versions = {
  row: 'R20',
  fault: 'a crawlnode of the next data format joins the crawl, and crawls a job of its own on the same Redis',
  engines: ['redis'],
  async run(scenario) {
    const crawling = await beginCrawl(scenario, { nodes: 2 });
    const { project, site } = crawling;
    const executable = await nextVersion();
    await crawling.untilPart(0.1);
    await crawling.untilAllCrawl();
    const problems = [];
    let times = 0;
    /** Each version meets the crawl of the other. */
    const expectRefusal = async (args, options) => {
      const node = crawl(project, [...site.args, '--exit-when-done', ...args], options);
      const { code } = await endOf(node);
      times += 1;
      if (code !== REFUSED) problems.push(`${args.join(' ')} ended with ${code}: ${node.said.slice(-300)}`);
      else if (!/data format \d+/.test(node.said))
        problems.push(`it did not say why: ${node.said.slice(-300)}`);
    };
    await expectRefusal([], { executable });
    const own = ['--job', 'next', '--max-pages', '100'];
    const next = crawl(project, [...site.args, '--exit-when-done', ...own], { executable });
    await until(() => next.said.includes('joined') || next.over(), 'the next version to begin its job');
    await expectRefusal(['--job', 'next']);
    const { code } = await endOf(next);
    if (code !== 0) problems.push(`the job of the next version ended with ${code}: ${next.said.slice(-300)}`);
    await expectRefusal([], { executable });
    const verdict = await crawling.verdict();
    // The job of the next version asked for a hundred pages too.
    return { ...verdict, times, refetched: 0, problems: [...problems, ...verdict.problems] };
  },
};

/** This version in another folder, with the next number as its data format. @returns its executable */
async function nextVersion() {
  const dir = await tempDir('next-version');
  for (const part of ['bin', 'dist', 'package.json', 'config'])
    await cp(path.join(root, part), path.join(dir, part), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const chunks = path.join(dir, 'dist', 'chunks');
  let raised = 0;
  for (const name of await readdir(chunks)) {
    const text = await readFile(path.join(chunks, name), 'utf8');
    const changed = text.replace(
      /(dataFormats = \{\s*redis: )(\d+)/,
      (_, start, format) => `${start}${Number(format) + 1}`,
    );
    if (changed === text) continue;
    await writeFile(path.join(chunks, name), changed);
    raised += 1;
  }
  if (raised === 0) throw new Error(`${chunks} names no data format`);
  return path.join(dir, 'bin', 'crawlnode.js');
}

/** R20: two versions of crawlnode with different data formats on one Redis. */
import { buildCopy } from '../harness/copy.mjs';
import { beginCrawl } from '../harness/crawling.mjs';
import { crawl, endOf } from '../harness/project.mjs';
import { until } from '../harness/stage.mjs';

const REFUSED = 3;
const NEXT_FORMAT = { file: 'frontier/data-format.ts', find: /(?<=\bredis: )\d+/, replace: '9999' };

export const versions = {
  row: 'R20',
  fault: 'a crawlnode of the next data format joins the crawl, and crawls a job of its own on the same Redis',
  engines: ['redis'],
  async run(scenario) {
    const crawling = await beginCrawl(scenario, { nodes: 2 });
    const { project, site } = crawling;
    const executable = await buildCopy([NEXT_FORMAT]);
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

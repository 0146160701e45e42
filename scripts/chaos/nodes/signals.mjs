/** R2: nodes that are asked to leave, once and twice. */
import { beginCrawl } from '../harness/crawling.mjs';
import { endOf } from '../harness/project.mjs';

const NODES = 3;

export const signals = {
  row: 'R2',
  fault: 'SIGTERM or SIGINT to all of 3 nodes, to one of them twice; then started again',
  engines: ['redis', 'embedded'],
  async run(scenario) {
    const { scale, random } = scenario;
    const crawling = await beginCrawl(scenario, { nodes: NODES });
    const problems = [];
    const exitMs = [];
    let times = 0;
    for (let round = 0; round < scale.faults; round++) {
      await crawling.untilPart((0.2 + 0.7 * round) / scale.faults);
      await crawling.untilAllCrawl();
      if (crawling.isOver) break;
      const twice = random.of(crawling.nodes);
      const signal = random.of(['SIGTERM', 'SIGINT']);
      const at = performance.now();
      for (const node of crawling.nodes) node.signal(signal);
      await crawling.pause(random.between(0, 300));
      if (!twice.over()) crawling.faultOf(twice);
      twice.signal(signal);
      for (const node of crawling.nodes) {
        const { code } = await endOf(node);
        exitMs.push(node.endedAt - at);
        times += 1;
        const forced = node === twice && code === (signal === 'SIGINT' ? 130 : 143);
        if (code !== 0 && !forced) problems.push(`${signal} ended a node with ${code}`);
      }
      const { leased, nodes } = await crawling.stats();
      if (leased + nodes.length > 0) problems.push(`${leased} leases and ${nodes.length} nodes stayed`);
      for (let n = 0; n < NODES; n++) crawling.start(n);
    }
    const verdict = await crawling.verdict();
    const slowest = Math.round(Math.max(...exitMs));
    const all = [...problems, ...verdict.problems];
    return { ...verdict, problems: all, times, recoveryMs: [], note: `slowest exit ${slowest} ms` };
  },
};

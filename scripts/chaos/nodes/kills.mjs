/** R1 and R3: nodes that are killed, or stand still. */
import { beginCrawl } from '../harness/crawling.mjs';
import { refetchDelays } from '../harness/recovery.mjs';

const NODES = 4;
const NODE_TIMEOUT_S = 3;
/** What a node says that had counted as dead: `whyJoinAnew` in src/node/node.ts. */
const JOINS_ANEW = 'joins the crawl anew';

export const kills = {
  row: 'R1',
  fault: 'SIGKILL of a random one of 4 nodes, started again at once',
  engines: ['redis', 'embedded'],
  async run(scenario) {
    const { scale, random } = scenario;
    const crawling = await beginCrawl(scenario, { nodes: NODES });
    await crawling.untilPart(0.1);
    let times = 0;
    while (times < scale.kills && !crawling.isOver) {
      if (await crawling.killAndRestart(Math.floor(random.between(0, NODES)))) times += 1;
      await crawling.pause(random.between(500, 2_500));
    }
    const verdict = await crawling.verdict();
    return { ...verdict, times, recoveryMs: refetchDelays(verdict.log, crawling.faults) };
  },
};

export const stops = {
  row: 'R3',
  fault: 'SIGSTOP of a node for twice the node timeout, then SIGCONT',
  engines: ['redis', 'embedded'],
  async run(scenario) {
    const { scale, random } = scenario;
    const crawling = await beginCrawl(scenario, { nodes: NODES, settings: { NODE_TIMEOUT: NODE_TIMEOUT_S } });
    let times = 0;
    for (; times < scale.faults; times++) {
      await crawling.untilPart(0.15 + (0.6 * times) / scale.faults);
      const node = random.of(crawling.nodes);
      if (node.over()) break;
      crawling.faultOf(node);
      node.signal('SIGSTOP');
      await crawling.pause(2_000 * NODE_TIMEOUT_S);
      node.signal('SIGCONT');
    }
    const verdict = await crawling.verdict();
    const recoveryMs = refetchDelays(verdict.log, crawling.faults);
    const happened = {
      'nodes that joined anew, as they had counted as dead': crawling.saidTimes(JOINS_ANEW),
    };
    return { ...verdict, times, recoveryMs, happened };
  },
};

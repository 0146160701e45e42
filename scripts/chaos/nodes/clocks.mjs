/** R15: the clock of a node is an hour off. */
import { beginCrawl } from '../harness/crawling.mjs';

const HOUR_MS = 3_600_000;

export const clocks = {
  row: 'R15',
  fault: 'the clock of one of 3 nodes is an hour ahead, that of another an hour behind',
  engines: ['redis'],
  async run(scenario) {
    const crawling = await beginCrawl(scenario, { nodes: 1 });
    crawling.start(1, [], ['env', `NODE_OPTIONS=${shifted(HOUR_MS)}`]);
    crawling.start(2, [], ['env', `NODE_OPTIONS=${shifted(-HOUR_MS)}`]);
    const verdict = await crawling.verdict();
    return { ...verdict, note: `${crawling.saidTimes('counts as dead')} nodes counted as dead` };
  },
};

/** Code that every thread of the process runs first. */
function shifted(ms) {
  const code = `globalThis.Date = class extends Date {
    constructor(...args) { if (args.length > 0) super(...args); else super(Date.now()); }
    static now() { return super.now() + ${ms}; }
  };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/** R10: a network that delays, throttles, cuts, resets and swallows between the nodes and Redis. */
import { beginCrawl } from '../harness/crawling.mjs';
import { startProxy } from '../harness/proxy.mjs';
import { resumeDelays } from '../harness/recovery.mjs';
import { startStore } from '../harness/redis.mjs';

/** What may happen, each for a while of ms; `cut` and `reset` are over at once. */
export const networkFaults = {
  delay: async (proxy, wait) => {
    proxy.state.delayMs = 150;
    await wait(3_000);
    proxy.state.delayMs = 0;
  },
  throttle: async (proxy, wait) => {
    proxy.state.bytesPerSecond = 200_000;
    await wait(3_000);
    proxy.state.bytesPerSecond = 0;
  },
  cut: async (proxy, wait) => {
    proxy.state.cuts += 6;
    await wait(500);
  },
  reset: async (proxy) => proxy.reset(),
  hole: async (proxy, wait) => {
    proxy.state.isHole = true;
    await wait(5_000);
    proxy.state.isHole = false;
  },
  // The connections carry nothing more, and nobody is told; new ones work.
  halfOpen: async (proxy) => proxy.silence(),
};

export const network = {
  row: 'R10',
  fault:
    'the network to Redis delays, throttles, cuts replies in their middle, resets, swallows all for 5 s, or goes silent',
  engines: ['redis'],
  async run(scenario) {
    const { scale, random } = scenario;
    const redis = await startStore();
    const proxy = await startProxy(redis.port);
    const crawling = await beginCrawl(scenario, { nodes: 3, redis: { ...redis, url: proxy.url } });
    const backAtMs = [];
    const kinds = Object.keys(networkFaults);
    await crawling.untilPart(0.1);
    const first = Math.floor(random.between(0, kinds.length));
    for (let n = 0; n < scale.faults * 4 && !crawling.isOver; n++) {
      await networkFaults[kinds[(first + n) % kinds.length]](proxy, (ms) => crawling.pause(ms));
      backAtMs.push(Date.now());
      await crawling.untilNextPage();
      await crawling.pause(random.between(200, 1_000));
    }
    const verdict = await crawling.verdict();
    return { ...verdict, times: backAtMs.length, recoveryMs: resumeDelays(verdict.log, backAtMs) };
  },
};

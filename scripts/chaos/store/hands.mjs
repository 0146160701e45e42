/** R12, R13, R14 and R16: what a hand at redis-cli does to the server. */

import { beginCrawl } from '../harness/crawling.mjs';
import { resumeDelays } from '../harness/recovery.mjs';
import { adminOf, startStore, usedMemory } from '../harness/redis.mjs';
import { until } from '../harness/stage.mjs';

export const memoryFull = {
  row: 'R12',
  fault: 'maxmemory reached under noeviction for 2 to 4 s',
  engines: ['redis'],
  async run(scenario) {
    const { scale, random } = scenario;
    const redis = await startStore();
    const crawling = await beginCrawl(scenario, { nodes: 3, redis });
    const admin = adminOf(redis.url);
    const backAtMs = [];
    for (let n = 0; n < scale.faults && !crawling.isOver; n++) {
      await crawling.untilPart(0.2 + (0.6 * n) / scale.faults);
      await admin.config('SET', 'maxmemory', String(await usedMemory(admin)));
      await crawling.pause(random.between(2_000, 4_000));
      await admin.config('SET', 'maxmemory', '0');
      backAtMs.push(Date.now());
    }
    const verdict = await crawling.verdict();
    return { ...verdict, times: backAtMs.length, recoveryMs: resumeDelays(verdict.log, backAtMs) };
  },
};

export const evictingPolicy = {
  row: 'R13',
  fault: 'maxmemory-policy allkeys-lru set under a live crawl, for 5 s after all nodes said so',
  engines: ['redis'],
  async run(scenario) {
    const redis = await startStore();
    const crawling = await beginCrawl(scenario, { nodes: 3, redis });
    const admin = adminOf(redis.url);
    await crawling.untilPart(0.2);
    await crawling.untilAllCrawl();
    const at = Date.now();
    await admin.config('SET', 'maxmemory', '500mb');
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const saidMs = [];
    const noted = new Set();
    await until(() => {
      for (const node of crawling.nodes) {
        if (noted.has(node) || !node.said.includes('may evict')) continue;
        noted.add(node);
        saidMs.push(Date.now() - at);
      }
      return noted.size === crawling.nodes.length || crawling.isOver;
    }, 'each node to notice the policy');
    const before = (await crawling.site.log()).length;
    await crawling.pause(5_000);
    const went = (await crawling.site.log()).length - before;
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    const verdict = await crawling.verdict();
    const problems = [...verdict.problems];
    if (noted.size < crawling.nodes.length) problems.push('a node did not notice');
    const note = `recovery is the time until a node noticed; ${went} pages were fetched in those 5 s`;
    return { ...verdict, problems, times: 1, recoveryMs: saidMs, note };
  },
};

export const flushedScripts = {
  row: 'R14',
  fault: 'SCRIPT FLUSH, FUNCTION FLUSH and CLIENT KILL during the crawl',
  engines: ['redis'],
  async run(scenario) {
    const { scale, random } = scenario;
    const redis = await startStore();
    const crawling = await beginCrawl(scenario, { nodes: 3, redis });
    const admin = adminOf(redis.url);
    await crawling.untilPart(0.05);
    let times = 0;
    for (; times < scale.kills * 5 && !crawling.isOver; times++) {
      await random.of([
        () => admin.script('FLUSH'),
        () => admin.call('FUNCTION', 'FLUSH'),
        () => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
      ])();
      await crawling.pause(random.between(20, 200));
    }
    const verdict = await crawling.verdict();
    return { ...verdict, times, recoveryMs: [] };
  },
};

export const flushed = {
  row: 'R16',
  fault: 'FLUSHALL under a live crawl: each node ends with exit 1 and says why',
  engines: ['redis'],
  async run(scenario) {
    const redis = await startStore();
    const crawling = await beginCrawl(scenario, { nodes: 3, redis });
    await crawling.untilPart(0.2);
    await crawling.untilAllCrawl();
    const admin = adminOf(redis.url);
    await admin.flushall();
    const at = performance.now();
    const ends = await crawling.ends();
    const recoveryMs = crawling.nodes.map(({ endedAt }) => Math.max(0, endedAt - at));
    const problems = ends.flatMap(({ code }, n) => {
      const { said } = crawling.nodes[n];
      if (code !== 1) return [`a node ended with ${code}`];
      return /vanished|flushed/.test(said) ? [] : [`a node did not say why: ${said.slice(-200)}`];
    });
    const keys = await admin.keys('*');
    if (keys.length > 0) problems.push(`nodes wrote again: ${keys}`);
    return { times: 1, recoveryMs, problems, note: 'recovery is the time until a node ends' };
  },
};

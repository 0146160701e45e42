/** R7 and R8: a redis-server that dies, and one that comes back with older data. */
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { resumeDelays } from '../harness/recovery.mjs';
import { everysec, startStore } from '../harness/redis.mjs';
import { tempDir } from '../harness/stage.mjs';

export const serverKills = {
  row: 'R7',
  fault: 'SIGKILL of redis-server (AOF everysec), started again after 1 to 4 s',
  engines: ['redis'],
  async run(scenario) {
    const { scale, random } = scenario;
    const redis = await startStore(everysec);
    const crawling = await beginCrawl(scenario, { nodes: 3, redis });
    const backAtMs = [];
    let mostLines = 0;
    for (let n = 0; n < scale.faults * 2 && !crawling.isOver; n++) {
      await crawling.untilPart(0.1 + (0.7 * n) / (scale.faults * 2));
      await crawling.pause(random.between(0, 1_000));
      const before = crawling.nodes.map((node) => node.lines().length);
      await redis.kill();
      await crawling.pause(random.between(1_000, 4_000));
      await redis.start();
      backAtMs.push(Date.now());
      await crawling.untilNextPage();
      const lines = crawling.nodes.map((node, at) => node.lines().length - before[at]);
      mostLines = Math.max(mostLines, ...lines);
    }
    const verdict = await crawling.verdict();
    const note = `at most ${mostLines} log lines of a node for an outage`;
    return { ...verdict, times: backAtMs.length, recoveryMs: resumeDelays(verdict.log, backAtMs), note };
  },
};

export const olderCopy = {
  row: 'R8',
  fault: 'redis-server restored from an older copy',
  engines: ['redis'],
  async run(scenario) {
    const redis = await startStore(everysec);
    const crawling = await beginCrawl(scenario, { nodes: 3, redis });
    await crawling.untilPart(0.2);
    const copy = await tempDir('copy');
    // A copy of the append-only file may end within a command: redis-server cuts that off.
    await cp(redis.dir, copy, { recursive: true });
    await crawling.untilPart(0.6);
    await redis.kill();
    await rm(path.join(redis.dir, 'appendonlydir'), { recursive: true });
    await cp(copy, redis.dir, { recursive: true });
    await redis.start();
    const backAtMs = [Date.now()];
    const verdict = await crawling.verdict();
    return { ...verdict, times: 1, recoveryMs: resumeDelays(verdict.log, backAtMs) };
  },
};

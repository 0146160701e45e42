/** R7, R8 and R28: a redis-server that dies, and a store that comes back with older data. */
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
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

/** Pages are found little by little, so a node that believes what it knew before would drop links to pages that nobody has. */
const gradualSite = () => startSite({ pages: 600, delayMs: () => 60 });

export const olderCopy = {
  row: 'R8',
  fault: 'redis-server restored from an older copy under 3 live nodes',
  engines: ['redis'],
  async run(row) {
    const redis = await startStore(everysec);
    const crawling = await beginCrawl(row, { nodes: 3, redis, site: await gradualSite() });
    await crawling.untilPart(0.15);
    const copy = await copyOf(redis.dir);
    await crawling.untilPart(0.5);
    const wasAtWork = !crawling.isOver;
    await redis.kill();
    await putBack(copy, redis.dir);
    await redis.start();
    const backAtMs = [Date.now()];
    const verdict = await crawling.verdict();
    return { ...verdict, times: Number(wasAtWork), recoveryMs: resumeDelays(verdict.log, backAtMs) };
  },
};

export const olderCopyAtRest = {
  row: 'R28',
  fault: 'the store rolled back to an older copy while no node ran; then 3 nodes',
  engines: ['redis', 'embedded'],
  async run(row) {
    const redis = row.engine === 'redis' ? await startStore(everysec) : undefined;
    const crawling = await beginCrawl(row, { nodes: 3, redis, site: await gradualSite() });
    const folder = redis?.dir ?? path.join(crawling.project.dir, '.crawlnode');
    const stopAll = async (signal) => {
      for (const node of crawling.nodes) node.signal(signal);
      await crawling.ends();
    };
    await crawling.untilPart(0.2);
    await crawling.untilAllCrawl();
    // Nodes that have left, or that still hold leases in the copy.
    const signals = row.random.of([
      ['SIGTERM', 'SIGTERM'],
      ['SIGKILL', 'SIGKILL'],
    ]);
    await stopAll(signals[0]);
    await redis?.kill();
    const copy = await copyOf(folder);
    await redis?.start();
    const before = (await crawling.site.log()).length;
    for (const n of [0, 1, 2]) crawling.start(n);
    await crawling.untilPart(0.6);
    await stopAll(signals[1]);
    const rolledBack = (await crawling.site.log()).length - before;
    await redis?.kill();
    await putBack(copy, folder);
    await redis?.start();
    for (const n of [0, 1, 2]) crawling.start(n);
    const verdict = await crawling.verdict();
    return { ...verdict, happened: { 'pages since the copy': rolledBack }, note: `after ${signals[0]}` };
  },
};

/** Of an append-only file it may end within a command: redis-server cuts that off. */
async function copyOf(folder) {
  const copy = await tempDir('copy');
  await cp(folder, copy, { recursive: true });
  return copy;
}

async function putBack(copy, folder) {
  await rm(folder, { recursive: true });
  await cp(copy, folder, { recursive: true });
}

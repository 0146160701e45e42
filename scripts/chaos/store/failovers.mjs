/** R9: Sentinel replaces the master, for good reason or on demand, and the old one may not know. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beginCrawl, repeatFault } from '../harness/crawling.mjs';
import { startSentinels } from '../harness/sentinel.mjs';

/** For how long a master stands still, before it goes on as if nothing had happened. */
const FROZEN_MS = 12_000;
const DOWN_MS = 20_000;

/** Each does it once, and resolves with the instant from which the crawl can go on. */
const faults = {
  'Sentinel: SIGKILL of the master, started again as a replica': async ({ master, untilOther }) => {
    const old = await master();
    await old.kill();
    await untilOther(old);
    const at = Date.now();
    await old.start();
    return at;
  },
  'Sentinel: SENTINEL FAILOVER, the old master goes on taking writes': async ({
    master,
    untilOther,
    ask,
  }) => {
    const old = await master();
    // On a busy machine a failover may be given up half-way.
    const asking = setInterval(() => void ask('FAILOVER').catch(() => {}), 10_000);
    while (String(await ask('FAILOVER').catch(String)) !== 'OK') await sleep(200);
    await untilOther(old).finally(() => clearInterval(asking));
    return Date.now();
  },
  [`Sentinel: the master stands still for ${FROZEN_MS / 1_000} s (SIGSTOP)`]: async ({
    master,
    untilOther,
  }) => {
    const old = await master();
    old.signal('SIGSTOP');
    const frozen = sleep(FROZEN_MS);
    await untilOther(old);
    const at = Date.now();
    await frozen;
    old.signal('SIGCONT');
    return at;
  },
  [`Sentinel: all servers and Sentinels are down for ${DOWN_MS / 1_000} s`]: async ({
    servers,
    sentinels,
  }) => {
    const all = [...servers, ...sentinels];
    await Promise.all(all.map((server) => server.kill()));
    await sleep(DOWN_MS);
    await Promise.all(all.map((server) => server.start()));
    return Date.now();
  },
};

export const failovers = Object.entries(faults).map(([fault, cause]) => ({
  row: 'R9',
  fault,
  engines: ['redis'],
  isLong: fault.includes('stands still') || fault.includes('are down'),
  run: (scenario) => crawlUnder(scenario, cause),
}));

async function crawlUnder(scenario, cause) {
  const topology = await startSentinels();
  const { settings } = topology;
  const crawling = await beginCrawl(scenario, { nodes: 3, redis: null, settings });
  return repeatFault(crawling, scenario, () => cause(topology));
}

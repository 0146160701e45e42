/** What sites see of several nodes: distances, parallel requests, pauses. By the sites' own access logs. */
import { crawl, endOf, judge, newProject, startRedis, startSite } from './stage.mjs';

export const politeness = {
  'politeness: 3 nodes, DOWNLOAD_DELAY 0.3, Redis': () => delay(true),
  'politeness: 3 nodes, DOWNLOAD_DELAY 0.3, embedded': () => delay(false),
  'politeness: a slow domain beside quick ones, Redis': () => slowDomain(true),
  'politeness: a slow domain beside quick ones, embedded': () => slowDomain(false),
  'politeness: 3 requests at once over 3 nodes, Redis': () => atOnce(true),
  'politeness: 3 requests at once over 3 nodes, embedded': () => atOnce(false),
  'politeness: 503 with Retry-After 2, Redis': () => retryAfter(true),
  'politeness: 503 with Retry-After 2, embedded': () => retryAfter(false),
};

function threeNodes(project, starts) {
  return [1, 2, 3].map((n) =>
    crawl(project, ['-a', `start=${starts}`, '--exit-when-done', '-o', `n${n}.jsonl`]),
  );
}

async function delay(onRedis) {
  const site = await startSite({ pages: 50 });
  const project = await newProject(onRedis ? await startRedis() : null, {
    DOWNLOAD_DELAY: 0.3,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  });
  await Promise.all(threeNodes(project, site.url).map((node) => endOf(node)));
  const { problems } = await judge(site, project);
  const gaps = gapsOf(site.log);
  if (gaps[0] < 250) problems.push(`two requests ${gaps[0].toFixed(0)} ms apart`);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  return {
    figures: `${site.log.length} requests, least distance ${gaps[0].toFixed(0)} ms, mean ${mean.toFixed(0)} ms`,
    problems,
  };
}

async function slowDomain(onRedis) {
  const slow = await startSite({ pages: 120, delayMs: () => 1_000, host: '127.0.0.2' });
  const quick = await Promise.all(
    ['127.0.0.3', '127.0.0.4'].map((host) => startSite({ pages: 300, delayMs: () => 10, host })),
  );
  const project = await newProject(onRedis ? await startRedis() : null, {
    CONCURRENT_REQUESTS_PER_DOMAIN: 8,
  });
  const starts = [slow, ...quick].map(({ url }) => url).join(' ');
  const startedAt = performance.now();
  await Promise.all(threeNodes(project, starts).map((node) => endOf(node)));
  const allMs = performance.now() - startedAt;
  const quickMs =
    Math.max(...quick.map(({ log }) => log.at(-1).endMs)) - Math.min(...quick.map(({ log }) => log[0].atMs));
  const slowMs = slow.log.at(-1).endMs - slow.log[0].atMs;
  const expected = [slow, ...quick].flatMap(({ urls }) => urls);
  const { problems } = await judge(
    { ...slow, log: [...slow.log, ...quick.flatMap(({ log }) => log)] },
    project,
    { expected },
  );
  if (quickMs > slowMs * 0.7) problems.push('the quick domains waited for the slow one');
  return {
    figures: `quick domains (600 pages) done in ${quickMs.toFixed(0)} ms, the slow one (120 pages of 1 s, 8 at once) in ${slowMs.toFixed(0)} ms of ${allMs.toFixed(0)}`,
    problems,
  };
}

async function atOnce(onRedis) {
  const site = await startSite({ pages: 120, delayMs: () => 60 });
  const project = await newProject(onRedis ? await startRedis() : null, {
    CONCURRENT_REQUESTS_PER_DOMAIN: 3,
  });
  await Promise.all(threeNodes(project, site.url).map((node) => endOf(node)));
  const { problems } = await judge(site, project);
  const most = Math.max(
    ...site.log.map(
      ({ atMs }) => site.log.filter((other) => other.atMs <= atMs && other.endMs > atMs).length,
    ),
  );
  if (most > 3) problems.push(`${most} at once`);
  return { figures: `at most ${most} at once, ${site.log.length} requests`, problems };
}

async function retryAfter(onRedis) {
  let refusedAt = 0;
  const site = await startSite({
    pages: 150,
    delayMs: () => 20,
    answer: (path, response) => {
      if (path !== '/p40' || refusedAt > 0) return false;
      response.writeHead(503, { 'retry-after': '2' }).end();
      refusedAt = performance.now();
      return true;
    },
  });
  const other = await startSite({ pages: 150, delayMs: () => 20, host: '127.0.0.2' });
  const project = await newProject(onRedis ? await startRedis() : null);
  await Promise.all(threeNodes(project, `${site.url} ${other.url}`).map((node) => endOf(node)));
  const { problems } = await judge(site, project, { expected: [...site.urls, ...other.urls] });
  // What was under way when the answer came is no breach: 200 ms for the answer to reach the store.
  const during = site.log.filter(({ atMs }) => atMs > refusedAt + 200 && atMs < refusedAt + 1_900).length;
  const late = site.log.filter(({ atMs }) => atMs > refusedAt && atMs <= refusedAt + 200).length;
  const next = Math.min(...site.log.filter(({ atMs }) => atMs > refusedAt + 200).map(({ atMs }) => atMs));
  if (during > 0) problems.push(`${during} requests while the domain asked to be left alone`);
  return {
    figures: `${late} requests already under way, ${during} in the pause, next after ${(next - refusedAt).toFixed(0)} ms`,
    problems,
  };
}

/** Distances of neighbouring requests, the smallest first. */
function gapsOf(log) {
  const times = log.map(({ atMs }) => atMs).sort((a, b) => a - b);
  return times
    .slice(1)
    .map((at, n) => at - times[n])
    .sort((a, b) => a - b);
}

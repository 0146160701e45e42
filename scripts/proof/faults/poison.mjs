/** Pages that kill or block the node that processes them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { crawl, endOf, html, judge, newProject, startRedis, startSite } from './stage.mjs';

export const poison = {
  'R6 process.exit among 50, --workers 2, Redis': () => workers('exit', true),
  'R6 process.exit among 50, --workers 2, embedded': () => workers('exit', false),
  'R6 process.abort among 50, --workers 2, Redis': () => workers('abort', true),
  'R6 process.abort among 50, --workers 2, embedded': () => workers('abort', false),
  'R6 process.exit, 3 processes in a loop, Redis': () => looped('exit', true),
  'R6 process.abort, 3 processes in a loop, embedded': () => looped('abort', false),
  'R4 main loop blocked for 2 × NODE_TIMEOUT, Redis': () => blocked(true),
  'R4 main loop blocked for 2 × NODE_TIMEOUT, embedded': () => blocked(false),
  'R5 while (true), MAIN_LOOP_TIMEOUT 2, Redis': () => endless(true),
  'R5 while (true), MAIN_LOOP_TIMEOUT 2, embedded': () => endless(false),
};

/** 51 pages that all stand on the first, so that the poison is in progress with its fullest company. */
async function poisonedSite() {
  const links = Array.from({ length: 50 }, (_, n) => `/p${n}`);
  const site = await startSite({
    pages: 50,
    answer: (path, response) => {
      if (path === '/') html(response, [...links.slice(0, 7), '/bad', ...links.slice(7)]);
      else if (path === '/bad') html(response);
      else setTimeout(() => html(response), 40);
      return true;
    },
  });
  return { ...site, expected: [site.url, ...links.map((link) => site.origin + link)] };
}

async function poisonVerdict(site, project, ends, kept) {
  const { state, lost, twice, refetched, crashed, problems } = await judge(site, project, {
    expected: site.expected,
  });
  const attempts = site.log.filter(({ path }) => path === '/bad').length;
  if (crashed !== 1) problems.push(`${crashed} failed as crashed`);
  if (state.done !== 51) problems.push(`${state.done} done instead of 51`);
  if (ends.some(({ code }) => code !== 0))
    problems.push(`ends: ${JSON.stringify(ends)} ${kept?.said.slice(-400)}`);
  const uses = state.failures.map((failure) => failure.crashes).join();
  const figures = `done ${state.done}, crashed ${crashed} (crashes ${uses}, fetched ${attempts} times), innocents failed ${state.failed - crashed}, lost ${lost}, twice ${twice}, refetched ${refetched}`;
  return { figures, problems, lost, twice, refetched, pages: site.expected.length };
}

async function workers(kind, onRedis) {
  const site = await poisonedSite();
  const project = await newProject(onRedis ? await startRedis() : null);
  const startedAt = performance.now();
  const args = [
    '-a',
    `start=${site.url}`,
    '-a',
    `${kind}=/bad`,
    '--workers',
    '2',
    '--exit-when-done',
    '-O',
    'items.jsonl',
  ];
  const parent = crawl(project, args);
  const ends = [await endOf(parent)];
  const verdict = await poisonVerdict(site, project, ends, parent);
  return { ...verdict, figures: `${verdict.figures}, ${seconds(startedAt)} s` };
}

/** As a supervisor does: each process is started again until it ends by itself in good order. */
async function looped(kind, onRedis) {
  const site = await poisonedSite();
  const project = await newProject(onRedis ? await startRedis() : null);
  const startedAt = performance.now();
  let over = false;
  const loop = async (n) => {
    for (;;) {
      const node = crawl(project, [
        '-a',
        `start=${site.url}`,
        '-a',
        `${kind}=/bad`,
        '--exit-when-done',
        '-o',
        `n${n}.jsonl`,
      ]);
      const end = await endOf(node);
      // A process.exit(0) in a callback looks like a good end, but prints no summary.
      if (node.out.includes('walk: ') || over) return end;
      await sleep(200);
    }
  };
  const ends = await Promise.all([1, 2, 3].map(loop));
  over = true;
  const verdict = await poisonVerdict(site, project, ends);
  return { ...verdict, figures: `${verdict.figures}, ${seconds(startedAt)} s` };
}

async function blocked(onRedis) {
  const site = await startSite({ pages: 300, delayMs: () => 20 });
  const project = await newProject(onRedis ? await startRedis() : null);
  const args = (n) => [
    '-a',
    `start=${site.url}`,
    '-a',
    'block=/p7',
    '-a',
    'blockMs=6000',
    '--exit-when-done',
    '-o',
    `n${n}.jsonl`,
  ];
  const nodes = [1, 2].map((n) => crawl(project, args(n)));
  const ends = await Promise.all(nodes.map((node) => endOf(node)));
  const { state, refetched, problems, lost, twice } = await judge(site, project);
  const recoveries = nodes
    .flatMap((node) => node.lines())
    .filter(({ msg }) => msg.includes('counts as dead')).length;
  if (recoveries > 0) problems.push(`${recoveries} false recoveries`);
  if (refetched > 0) problems.push(`${refetched} refetched: ${state.counters['retry/count']} retries`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  return {
    figures: `false recoveries ${recoveries}, lost ${lost}, twice ${twice}, refetched ${refetched}`,
    ...{ problems, lost, twice, refetched, pages: site.urls.length },
  };
}

async function endless(onRedis) {
  const site = await poisonedSite();
  const project = await newProject(onRedis ? await startRedis() : null, { MAIN_LOOP_TIMEOUT: 2 });
  const startedAt = performance.now();
  const node = (n) =>
    crawl(project, ['-a', `start=${site.url}`, '-a', 'loop=/bad', '--exit-when-done', '-o', `n${n}.jsonl`]);
  // A stuck node ends itself, with SIGKILL, for its supervisor to replace. Four, since the page takes three with it.
  const nodes = [1, 2, 3, 4].map(node);
  let tookS = '';
  const ends = await Promise.all(
    nodes.map(async (one) => {
      const end = await endOf(one, 120_000);
      if (end.code === 0) tookS = seconds(startedAt);
      return end;
    }),
  );
  // Their files are drained by the next start.
  await Promise.all([1, 2, 3, 4].map((n) => endOf(node(n))));
  const stuck = nodes.filter((one) => one.said.includes('has blocked the main loop'));
  const verdict = await poisonVerdict(
    site,
    project,
    ends.filter(({ signal }) => signal !== 'SIGKILL'),
  );
  if (stuck.length !== 3) verdict.problems.push(`${stuck.length} stuck nodes ended themselves instead of 3`);
  return {
    ...verdict,
    figures: `${verdict.figures}, ${stuck.length} nodes stuck, crawl over after ${tookS} s`,
  };
}

const seconds = (from) => ((performance.now() - from) / 1000).toFixed(1);

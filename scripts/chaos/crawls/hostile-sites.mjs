/** R17: a page with a million links, and a site without an end. */
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
import { adminOf, startStore } from '../harness/redis.mjs';
import { peakOfProcess, sampleStore } from '../harness/samples.mjs';

const SAMPLE_EVERY_MS = 200;
const MOST_PAGES = 50;
const TRAP_PAGES = 2_000;
const TRAP_LINKS = 10;

export const manyLinks = {
  row: 'R17',
  fault: 'a page with a million links (100,000 with --short), all accepted; the crawl ends after 50 pages',
  engines: ['redis', 'embedded'],
  async run({ engine, scale }) {
    const count = scale.name === 'short' ? 100_000 : 1_000_000;
    const body = Array.from({ length: count }, (_, n) => `<a href=/x/${n}>${n}</a>`).join('\n');
    const site = await serve((path) => (path === '/' ? body : ''));
    // Only for the time that the harness waits.
    const pages = { ...site, urls: Array.from({ length: count / 100 }) };
    const args = ['--max-pages', String(MOST_PAGES)];
    // On a busy machine the other pages are done long before the first one, whose node must not count as dead meanwhile.
    const settings = { SHUTDOWN_TIMEOUT: 600, NODE_TIMEOUT: 60 };
    const options = { site: pages, args, settings, nodes: 1 };
    const { crawling, peakMb, storeMb } = await watched({ engine, scale }, options);
    const [{ code }] = await crawling.ends();
    const stats = await crawling.stats();
    const problems = await crawling.doctor();
    const missing = count + 1 - stats.seen;
    const items = await crawling.items();
    const twice = items.length - new Set(items).size;
    if (code !== 0) problems.push(`the node ended with ${code}: ${crawling.nodes[0].said.slice(-400)}`);
    if (missing !== 0) problems.push(`${missing} links were not accepted`);
    if (twice !== 0) problems.push(`${twice} items are there twice`);
    if (stats.done !== MOST_PAGES) problems.push(`${stats.done} pages are done`);
    if (stats.pending + stats.done !== count + 1) problems.push(`${stats.pending} are pending`);
    const note = `peak RSS ${peakMb} MB, store ${storeMb} MB`;
    return { times: 1, pages: count + 1, missing, twice, problems, note };
  },
};

export const trap = {
  row: 'R17',
  fault: `a site without an end, of paths that repeat and session ids, under URL_PAGES_PER_DOMAIN_LIMIT ${TRAP_PAGES}`,
  engines: ['redis', 'embedded'],
  async run(scenario) {
    let sessions = 0;
    const site = await serve((path) => {
      const [place] = path.split('?');
      const deeper = Array.from({ length: TRAP_LINKS }, (_, n) => `${place === '/' ? '' : place}/a${n % 3}`);
      sessions += 1;
      return [...new Set(deeper), `${place}?session=${sessions}`, `${place}?day=${sessions + 1}`]
        .map((link) => `<a href="${link}">next</a>`)
        .join('\n');
    });
    const settings = { URL_PAGES_PER_DOMAIN_LIMIT: TRAP_PAGES };
    const pages = { ...site, urls: Array.from({ length: TRAP_PAGES }) };
    const { crawling, peakMb, storeMb } = await watched(scenario, { site: pages, settings, nodes: 2 });
    const asked = (await site.log()).map(({ path }) => site.origin + path);
    const verdict = await crawling.verdict({ expected: [...new Set(asked)] });
    const problems = [...verdict.problems];
    if (verdict.pages !== TRAP_PAGES) problems.push(`${verdict.pages} pages were fetched`);
    const note = `peak RSS of a node ${peakMb} MB, store ${storeMb} MB`;
    return { ...verdict, problems, times: 1, recoveryMs: [], note };
  },
};

/** Crawl to the end. @returns also the most memory that a node and the store needed, in MB. */
async function watched({ engine, scale }, options) {
  const redis = engine === 'redis' ? await startStore() : null;
  const crawling = await beginCrawl({ engine, scale }, { redis, ...options });
  const admin = redis && adminOf(redis.url);
  let [peakMb, storeMb] = [0, 0];
  while (!crawling.isOver) {
    peakMb = Math.max(peakMb, ...crawling.nodes.map(({ pid }) => peakOfProcess(pid)));
    storeMb = Math.max(storeMb, (await sampleStore(crawling.project, admin)).mb);
    await crawling.pause(SAMPLE_EVERY_MS);
  }
  return { crawling, peakMb: Math.round(peakMb), storeMb: Math.round(storeMb) };
}

function serve(bodyOf) {
  const answer = (path, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(bodyOf(path));
    return true;
  };
  return startSite({ answer });
}

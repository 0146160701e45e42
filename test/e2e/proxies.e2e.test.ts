/** Crawls through proxies: what reaches the site, what is counted, and what of the passwords is shown. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunHere, runHere } from '../helpers/cli/run-here.js';
import { engines, projectOn } from '../helpers/engine-project.js';
import { startProxy, type TestProxy } from '../helpers/sites/proxy.js';
import { type Site, startSite } from '../helpers/sites/site.js';

const secret = 'hunter22/@';
const spider = `
import { Request, Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  parse(response) {
    return response.followAll('a');
  }
  own(response) {
    return { proxy: response.meta.proxy ?? null };
  }
}
`;

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { RETRY_BACKOFF: 0.1, RETRY_BACKOFF_MAX: 0.1, PROXY_REST: 0.1, START_TIMEOUT: 1 },
    files: { 'spiders/news.ts': spider },
  });
  let site: Site;
  let proxy: TestProxy;
  let dead: TestProxy;
  beforeEach(async () => {
    site = await startSite({ pages: 12 });
    proxy = await startProxy({ username: 'me', password: secret });
    dead = await startProxy({ username: 'me', password: secret });
    await dead.close();
  });
  afterEach(() => Promise.all([site.close(), proxy.close()]));

  /** No output of any command shows a password. */
  async function run(args: string[], options: RunHere = {}) {
    const result = await runHere(args, { cwd: here.project.dir, ...options });
    const output = result.stdout + result.stderr;
    expect(output).not.toContain(secret);
    expect(output).not.toContain(encodeURIComponent(secret));
    return { ...result, output };
  }
  const crawl = (...args: string[]) => run(['crawl', 'news', '--exit-when-done', ...args]);
  const counters = async () => JSON.parse((await run(['stats', 'news', '--json'])).stdout).counters;
  const home = () => `http://news.test:${site.port}/`;

  it('a crawl passes proxies that fail, and no page fails', async () => {
    await here.project.write('proxies.txt', `# ours\n${dead.url()}\n127.0.0.1:${proxy.port}:me:${secret}\n`);
    await run(['seed', 'news', home()]);
    const { code, output } = await crawl('-s', 'PROXIES=proxies.txt');
    expect(code).toBe(0);
    expect(output).toContain(`proxy ${dead.label}: the connection was refused`);
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    expect(proxy.log).toHaveLength(12);
    expect(await counters()).toMatchObject({ 'proxies/failed': expect.any(Number) });
    expect(await counters()).not.toHaveProperty('retry/count');
  });

  it('a seed of the start_urls key does not choose its proxy, unless PROXY_FROM_SEEDS lets it', async () => {
    const seed = JSON.stringify({ url: `${site.origin}/`, callback: 'own', meta: { proxy: proxy.url() } });
    const again = JSON.stringify({ url: `${site.origin}/?2`, callback: 'own', meta: { proxy: proxy.url() } });
    await run(['seed', 'news', '--to-start-urls', seed]);
    const first = await crawl('-s', 'ALLOW_PRIVATE_ADDRESSES=true');
    expect(first.output).toContain('names a proxy, which is ignored');
    expect(await counters()).toMatchObject({ 'proxies/ignored_in_seed': 1 });
    expect(site.log.map(({ path }) => path)).toEqual(['/']);
    expect(proxy.log).toEqual([]);
    await run(['seed', 'news', '--to-start-urls', again]);
    await crawl('-s', 'ALLOW_PRIVATE_ADDRESSES=true', '-s', 'PROXY_FROM_SEEDS=true');
    expect(proxy.log).toEqual([`GET ${site.origin}/?2`]);
  });

  if (engine === 'redis') return;

  it('a page whose proxy is dead fails as proxy_error, and a wrong password is named', async () => {
    const wrong = proxy.url().replace('hunter22', 'hunter33');
    const url = `${home()}page/1.html`;
    await run(['seed', 'news', JSON.stringify({ url: home(), meta: { proxy: dead.url() } })]);
    await run(['seed', 'news', JSON.stringify({ url, proxy: wrong })]);
    // No page of the run succeeds.
    expect((await crawl()).code).toBe(1);
    const { stdout } = await run(['failed', 'news', 'list', '--json']);
    const reasons = stdout
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line))
      .map(({ reason }) => reason);
    expect(reasons.sort()).toEqual(['proxy_auth', 'proxy_error']);
    const inspected = await run(['inspect', 'news', home(), '--json']);
    expect(JSON.parse(inspected.stdout).meta.proxy).toBe(`http://***@${dead.label}`);
    expect(site.log).toEqual([]);
  });

  it('fetch uses the proxy of the environment, and the settings show it without its password', async () => {
    const env = { http_proxy: proxy.url(), no_proxy: 'direct.test' };
    const page = await run(['fetch', home()], { env });
    expect(page.code).toBe(0);
    expect(proxy.log).toEqual([`GET ${home()}`]);
    const direct = await run(['fetch', `http://direct.test:${site.port}/`], { env });
    expect(direct.output).toContain('no such host name');
    const { stdout } = await run(['settings', 'HTTP_PROXY', 'NO_PROXY', '--json'], { env });
    expect(stdout).toContain(`http://***@${proxy.label}`);
    expect(stdout).toContain('direct.test');
    const bad = await run(['fetch', home(), '-s', `PROXIES=http://me:${secret}@h:99999`]);
    expect(bad.code).toBe(2);
    expect((await run(['fetch', home(), '-s', 'PROXIES=none.txt'])).code).toBe(2);
  });
});

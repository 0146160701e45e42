/** `eta` of a fixed list: in the last half of the crawl it is within 20 % of what the crawl really takes. */
import { expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { type Engine, onEachEngine, projectOn } from '../../helpers/engine-project.js';
import { type SiteOptions, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
const PAGES_EACH = 150;

type Handler = NonNullable<SiteOptions['handler']>;

/** One engine with delays that are always the same, the other with random ones: the default. */
const isRandom: Readonly<Record<Engine, boolean>> = { redis: true, embedded: false };

onEachEngine('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: {
      ...{ DOWNLOAD_DELAY: 0.4, RANDOMIZE_DOWNLOAD_DELAY: isRandom[engine], ALLOW_PRIVATE_ADDRESSES: true },
      ...{ ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS_PER_DOMAIN: 8 },
    },
  });

  it('600 pages with delays of four sites end when it says, give or take a fifth', async () => {
    const handler: Handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('a page');
      return true;
    };
    const sites = await Promise.all(HOSTS.map((host) => startSite({ host, handler })));
    const urls = sites.flatMap(({ origin }) =>
      Array.from({ length: PAGES_EACH }, (_, n) => `${origin}/${n}`),
    );
    const cwd = here.project.dir;
    expect(await runHere(['seed', 'news', ...urls], { cwd })).toMatchObject({ code: 0 });
    const node = startCli(['crawl', 'news', '--exit-when-done'], { cwd });
    const samples: { readonly atMs: number; readonly done: number; readonly seconds: number | null }[] = [];
    await waitFor(
      async () => {
        const { stdout } = await runHere(['stats', 'news', '--json'], { cwd });
        const { done, eta } = JSON.parse(stdout);
        samples.push({ atMs: Date.now(), done, seconds: eta?.seconds ?? null });
        return done === urls.length;
      },
      { timeoutMs: 170_000, intervalMs: 1_000, what: 'the end of the crawl' },
    );
    const endedAtMs = samples.at(-1)!.atMs;
    expect(await node.wait()).toMatchObject({ code: 0 });
    const lastHalf = samples.filter(({ done }) => done >= urls.length / 2 && done < urls.length);
    const wrong = lastHalf.map(({ atMs, seconds }) => {
      const leftS = (endedAtMs - atMs) / 1_000;
      // Whole seconds, asked for once a second: the last of them cannot be told apart.
      const isRight = seconds !== null && Math.abs(seconds - leftS) <= Math.max(2, leftS / 5);
      return isRight ? null : `${seconds} instead of ${leftS}`;
    });
    expect(lastHalf.length).toBeGreaterThan(10);
    expect(wrong.filter((each) => each !== null)).toEqual([]);
  });
});

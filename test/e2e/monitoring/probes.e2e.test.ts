/** /metrics, /healthz and /readyz of a command with one node and of one with two, while a callback blocks, a worker is frozen, and Redis is away. */
import { existsSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { describeBeside, projectOn } from '../../helpers/engine-project.js';
import { ask, freePort, sumOf } from '../../helpers/prometheus/scrape.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

/** A page `/block` keeps the main loop busy until there is a file `go`, for a minute at most. */
const spider = `
import { existsSync, writeFileSync } from 'node:fs';
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  parse({ url }) {
    if (!url.endsWith('/block')) return;
    writeFileSync('began', '');
    const until = Date.now() + 60_000;
    while (!existsSync('go') && Date.now() < until);
    writeFileSync('ended', '');
  }
}
`;
const SLOTS = 4;
const PAGES = 40;

for (const workers of [1, 2]) {
  describeBeside(`the probes of ${workers} nodes`, () => {
    const here = projectOn('redis', {
      settings: {
        ...{ CONCURRENT_REQUESTS: SLOTS, NODE_TIMEOUT: 4, HEARTBEAT_INTERVAL: 1 },
        ALLOW_PRIVATE_ADDRESSES: true,
      },
      files: { 'spiders/news.ts': spider },
    });

    it('tell what all nodes did, stay live while a callback blocks and Redis is away, and are not ready without Redis', async () => {
      const cwd = here.project.dir;
      const { origin } = await startSite({
        handler: (_, response) => {
          response.writeHead(200, { 'content-type': 'text/plain' }).end('a page');
          return true;
        },
      });
      const port = await freePort();
      const statusOf = async (path: string) => (await ask(port, path)).status;
      const metric = async (name: string) => sumOf((await ask(port, '/metrics')).text, `crawlnode_${name}`);
      const stats = async () => JSON.parse((await runHere(['stats', 'news', '--json'], { cwd })).stdout);

      const args = ['crawl', 'news', ...(workers > 1 ? ['--workers', String(workers)] : [])];
      const command = startCli([...args, '-s', `METRICS_PORT=${port}`], { cwd });
      await waitFor(async () => (await stats()).nodes.length === workers, { what: 'the nodes' });
      await waitFor(async () => (await statusOf('/readyz')) === 200, { what: 'readiness' });
      await runHere(['seed', 'news', ...Array.from({ length: PAGES }, (_, n) => `${origin}/${n}`)], { cwd });
      await waitFor(async () => (await metric('pages_total')) === PAGES, { what: 'all pages' });
      expect((await stats()).done).toBe(PAGES);
      expect(await metric('slots')).toBe(workers * SLOTS);

      await runHere(['seed', 'news', `${origin}/block`], { cwd });
      await waitFor(() => existsSync(here.project.path('began')), { what: 'the callback' });
      expect([await statusOf('/healthz'), await statusOf('/readyz'), await statusOf('/metrics')]).toEqual([
        ...[200, 200, 200],
      ]);
      expect(existsSync(here.project.path('ended'))).toBe(false);
      writeFileSync(here.project.path('go'), '');
      await waitFor(async () => (await metric('pages_total')) === PAGES + 1);

      if (workers > 1) {
        const [{ pid }] = (await stats()).nodes;
        process.kill(pid, 'SIGSTOP');
        await waitFor(async () => (await stats()).nodes.length === workers - 1, { what: 'the frozen node' });
        expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
        expect(await metric('pages_total')).toBe(PAGES + 1);
        process.kill(pid, 'SIGCONT');
        await waitFor(async () => (await stats()).nodes.length === workers, { what: 'the node, back' });
      }

      here.redis!.pause();
      await waitFor(async () => (await statusOf('/readyz')) === 503, { what: 'a command that is not ready' });
      expect(await statusOf('/healthz')).toBe(200);
      here.redis!.resume();
      await waitFor(async () => (await statusOf('/readyz')) === 200, { what: 'readiness, again' });

      command.kill('SIGTERM');
      expect(await command.wait()).toMatchObject({ code: 0 });
    });
  });
}

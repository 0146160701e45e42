/** `npm run docs:pictures`: the pictures of the dashboard in the docs, of a crawl made for them. Needs chromium, redis-server and a build. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openBrowser } from '../../test/helpers/dashboard/browser.js';
import { showCrawl } from '../../test/helpers/dashboard/shown-crawl.js';
import { startRedis } from '../../test/helpers/redis/redis-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = process.argv[2] ?? path.join(root, 'docs', 'guide', 'dashboard');
/** They go with the docs into the package. */
const MOST_BYTES = 150_000;

const pictures = [
  { name: 'overview', at: '#/shop', width: 1280, height: 1100 },
  { name: 'overview-dark', at: '#/shop', width: 1280, height: 1100, isDark: true },
  { name: 'overview-narrow', at: '#/shop', width: 390, height: 844 },
  { name: 'domains', at: '#/shop/domains?sort=slow', width: 1280, height: 560 },
  { name: 'nodes', at: '#/shop/nodes', width: 1280, height: 520 },
  { name: 'failed', at: '#/shop/failed', width: 1280, height: 760 },
];

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-pictures-'));
const redis = await startRedis();
await writeFile(path.join(dir, 'crawlnode.yaml'), `REDIS_URL: ${redis.url}\n`);
const crawl = await showCrawl(redis.url, 'shop');
const dashboard = spawn(
  process.execPath,
  [path.join(root, 'bin', 'crawlnode.js'), 'dashboard', '--port', '0', '--allow-actions', '--json'],
  { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] },
);
const browser = await openBrowser();
try {
  const { url } = await new Promise<{ url: string }>((resolve) => {
    createInterface(dashboard.stdout).once('line', (line) => resolve(JSON.parse(line)));
  });
  for (const { name, at, width, height, isDark = false } of pictures) {
    const page = await browser.newPage({
      viewport: { width, height },
      colorScheme: isDark ? 'dark' : 'light',
    });
    await page.goto(`${url}${at}`);
    await page.waitForSelector('h1, .empty');
    // The page allows no eval, by which playwright would wait for an expression.
    await page.getByText('Loading …').first().waitFor({ state: 'detached' });
    await page.waitForTimeout(500);
    const file = path.join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    const { size } = await stat(file);
    console.log(`${name}.png: ${Math.round(size / 1_000)} KB`);
    if (size > MOST_BYTES) process.exitCode = 1;
    await page.close();
  }
} finally {
  await browser.close();
  dashboard.kill();
  await crawl.close();
  await redis.stop();
  await rm(dir, { recursive: true });
}

/**
 * The page of the dashboard in a real browser, on a wide screen and on a telephone: each view, what changes by itself, an action, a
 * store that is away and comes back, and texts of a hostile site. Needs Debian's chromium.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningCli, startCli } from '../helpers/cli.js';
import { chromiumPath, openBrowser } from '../helpers/dashboard/browser.js';
import { type ShownCrawl, showCrawl } from '../helpers/dashboard/shown-crawl.js';
import { createProject, type Project } from '../helpers/project.js';
import { type RedisServer, startRedis } from '../helpers/redis/redis-server.js';
import { own } from '../helpers/resources.js';
import { waitFor } from '../helpers/wait-for.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider { name = 'shop'; parse() {} }
`;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What the functions of `evaluate` find. */
interface InPage {
  readonly axe: {
    run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
  };
  readonly document: { readonly documentElement: { readonly scrollWidth: number } };
  readonly innerWidth: number;
}

/** Would set \`hacked\` if it became markup or a link that is followed. */
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
const failing = [{ url: `http://x.example/?q=${encodeURIComponent(hostile)}`, detail: `Error: ${hostile}` }];

const sizes = { 'a wide screen': { width: 1280, height: 900 }, 'a telephone': { width: 390, height: 844 } };

/** Hash, and a text that the view shows. */
const views = {
  crawls: ['#/', 'shop'],
  overview: ['#/shop', 'Domains with trouble'],
  domains: ['#/shop/domains?sort=slow', 'archive.example.org'],
  nodes: ['#/shop/nodes', 'node-d'],
  failed: ['#/shop/failed', 'The site had trouble'],
  seeds: ['#/shop/seeds', 'Bad seeds'],
} as const;

// Named with its reason, so that a run without it says what it did not test.
describe.skipIf(chromiumPath === null)('the page of the dashboard (skipped without chromium)', () => {
  let redis: RedisServer;
  let project: Project;
  let crawl: ShownCrawl;
  let dashboard: RunningCli;
  let browser: Browser;
  let url: string;
  const asked = new Set<string>();

  beforeAll(async () => {
    redis = await startRedis();
    project = await createProject({
      settings: { REDIS_URL: redis.url },
      files: { 'spiders/shop.ts': spider },
    });
    crawl = await showCrawl(redis.url, 'shop', { failing });
    dashboard = startCli(['dashboard', '--port', '0', '--allow-actions', '--json'], { cwd: project.dir });
    await dashboard.waitForOutput('"url"');
    ({ url } = JSON.parse(dashboard.stdout()));
    browser = await openBrowser();
    own({ name: 'the browser', close: () => browser.close() });
  });

  afterAll(async () => {
    await browser.close();
    dashboard.kill();
    expect((await dashboard.wait()).code).toBe(0);
    await crawl.close();
    await redis.stop();
    await project.remove();
  });

  async function open(
    size: keyof typeof sizes,
    hash: string,
  ): Promise<{ page: Page; problems: string[]; context: BrowserContext }> {
    const context = await browser.newContext({ viewport: sizes[size] });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    await page.goto(`${url}${hash}`);
    return { page, problems, context };
  }

  for (const size of Object.keys(sizes) as (keyof typeof sizes)[]) {
    for (const [name, [hash, text]] of Object.entries(views)) {
      it(`shows ${name} on ${size}: nothing serious for axe, nothing wider than the screen, no script of a site`, async () => {
        const { page, problems, context } = await open(size, hash);
        await page.getByText(text).first().waitFor();
        await page.getByText('Loading …').first().waitFor({ state: 'detached' });
        // Not as a script of the page, whose policy refuses it.
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => (globalThis as unknown as InPage).axe.run());
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
        const wide = await page.evaluate(() => {
          const { document, innerWidth } = globalThis as unknown as InPage;
          return document.documentElement.scrollWidth - innerWidth;
        });
        expect(wide).toBeLessThanOrEqual(0);
        expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
        expect(
          await page
            .locator('a[href]:not([href^="#/"]):not([href^="http://"]):not([href^="https://"])')
            .count(),
        ).toBe(0);
        expect(await page.locator('a[href^="http"]:not([rel~="noreferrer"])').count()).toBe(0);
        expect(problems).toEqual([]);
        await context.close();
      });
    }
  }

  it('shows errors of a hostile site as the text that they are', async () => {
    const { page, context } = await open(
      'a wide screen',
      '#/shop/failed?reason=callback_error&domain=x.example',
    );
    await page.getByText(`Error: ${hostile}`).last().waitFor();
    expect(await page.locator('img[src="x"], main script').count()).toBe(0);
    await context.close();
  });

  it('changes by itself when a page is done', async () => {
    const { page, context } = await open('a telephone', '#/shop');
    const done = page.locator('.figures > div', { hasText: 'Done' }).locator('b');
    const before = Number(await done.textContent());
    await crawl.pageDone();
    await waitFor(async () => Number(await done.textContent()) === before + 1, { what: 'one page more' });
    await context.close();
  });

  it('pauses, resumes, seeds and retries by its buttons, and by keyboard', async () => {
    const { page, problems, context } = await open('a wide screen', '#/shop');
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1 .state', { hasText: 'paused' }).waitFor();
    await page
      .getByText(/paused by dashboard/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('h1 .state', { hasText: 'running' }).waitFor();
    await page.getByRole('link', { name: 'Seeds' }).click();
    await page.getByLabel(/Add seeds/).fill('https://shop.example.com/another\nnonsense');
    await page.getByRole('button', { name: 'Add seeds' }).click();
    await page.getByText('1 accepted, 0 duplicate, 1 bad.').waitFor();
    await page.getByRole('link', { name: 'Failed' }).click();
    const timeouts = page.getByRole('row', { name: /timeout/ }).first();
    await timeouts.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('9 back to pending.').waitFor();
    const refused = page.getByRole('row', { name: /http_status/ }).first();
    await refused.getByRole('button', { name: 'Purge' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await refused.getByRole('button', { name: 'Purge' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
    await page.getByText('24 dropped.').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('keeps what it knows, with its age, while the store is away, and goes on by itself', async () => {
    const { page, context } = await open('a wide screen', '#/shop');
    await page.locator('.figures').waitFor();
    redis.pause();
    try {
      await page.getByText(/This is how it was/).waitFor();
      expect(await page.locator('.figures').isVisible()).toBe(true);
    } finally {
      redis.resume();
    }
    await page.getByText(/This is how it was/).waitFor({ state: 'detached' });
    await context.close();
  });

  it('asked nobody but the dashboard', () => {
    expect([...asked]).toEqual([new URL(url).origin]);
  });
});

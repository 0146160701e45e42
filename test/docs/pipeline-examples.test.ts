/** The examples of the guide that write committed items elsewhere do so, each item once. */
import { chmodSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../helpers/cli.js';
import { createProject, type Project } from '../helpers/project.js';
import { startPostgres } from '../helpers/servers/postgres.mjs';
import { type Site, startSite } from '../helpers/sites/site.js';
import { tempDir } from '../helpers/temp-dir.js';
import { pages, root } from './pages.js';

const spider = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'shop';
  startUrls = [this.args.url];
  *parse(response: Response) {
    yield { url: response.url, price: 1 };
    yield* response.followAll(response.links());
  }
}
`;

/** The block of the guide that begins with the path of a pipeline. */
function example(name: string): string {
  const guide = pages.find(({ file }) => file === 'docs/guide/items-and-feeds.md')!;
  const block = guide.blocks.find(({ text }) => text.startsWith(`// pipelines/${name}.ts\n`));
  expect(block, name).toBeDefined();
  return block!.text;
}

let site: Site;
let project: Project;
beforeEach(async () => {
  site = await startSite({ pages: 30 });
});
afterEach(async () => {
  await site.close();
  await project.remove();
});

async function crawlWith(name: string, env: Record<string, string> = {}) {
  project = await createProject({
    settings: { ROBOTSTXT_OBEY: false, ITEM_PIPELINES: { [`./pipelines/${name}.ts`]: 100 } },
    files: { 'spiders/shop.ts': spider, [`pipelines/${name}.ts`]: example(name) },
  });
  symlinkSync(path.join(root, 'node_modules'), project.path('node_modules'));
  const args = ['crawl', 'shop', '-a', `url=${site.url}`, '--exit-when-done'];
  const { code, stderr } = await runCli(args, { cwd: project.dir, env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

it('PostgreSQL', async ({ skip }) => {
  const { dir } = tempDir('postgres');
  // The server runs as a user of its own.
  chmodSync(dir, 0o755);
  const server = await startPostgres(path.join(dir, 'cluster'));
  if (server === null) return skip('no PostgreSQL is installed');
  try {
    await crawlWith('postgres', { DATABASE_URL: server.url });
    const sql = postgres(server.url);
    const rows = await sql`SELECT url, price FROM product`;
    await sql.end();
    expect(rows.map(({ url, price }) => [url, Number(price)]).sort()).toEqual(
      [...site.urls].sort().map((url) => [url, 1]),
    );
  } finally {
    await server.stop();
  }
});

it('SQLite', async () => {
  await crawlWith('sqlite');
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(project.path('items.db'));
  const rows = database.prepare('SELECT id, item FROM product').all() as { id: string; item: string }[];
  database.close();
  expect(rows.map(({ item }) => JSON.parse(item).url).sort()).toEqual([...site.urls].sort());
});

it('a webhook, which answers with an error now and then', async () => {
  const had = new Map<string, { url: string }>();
  let calls = 0;
  const service = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    for (const { id, item } of JSON.parse(body)) had.set(id, item);
    calls += 1;
    response.writeHead(calls === 1 ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as { port: number };
  try {
    await crawlWith('webhook', { WEBHOOK_URL: `http://127.0.0.1:${port}/` });
  } finally {
    service.close();
    service.closeAllConnections();
  }
  expect(calls).toBeGreaterThan(1);
  expect([...had.values()].map(({ url }) => url).sort()).toEqual([...site.urls].sort());
});

/** Settings that a project declares itself, through the command line and in programs. */
import { chmodSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { crawl, Request, Response, runSpider, Spider } from '../../../src/index.js';
import type { SettingsInput } from '../../../src/settings/schema.js';
import { crawlLines } from '../../helpers/cli/crawled-project.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const settings = `
import { z } from 'zod';
export default z.object({
  SHOP_CITY: z.string(),
  SHOP_LIMIT: z.int().min(1).default(10).meta({ unit: 'pages' }),
  SHOP_API_KEY: z.string().optional(),
});
`;
const spider = `
import { Spider, type Response } from 'crawlnode';
export default class Shop extends Spider {
  name = 'shop';
  startUrls = [this.args.url ?? 'http://127.0.0.1:9/'];
  customSettings = { SHOP_LIMIT: 20 };
  *parse() { yield { city: this.settings.SHOP_CITY, limit: this.settings.SHOP_LIMIT }; }
}
`;
let project: Project;
let site: Site;
/** The header that a middleware adds, of each request. */
let sent: unknown[];
beforeEach(async () => {
  sent = [];
  site = await startSite({
    handler: ({ headers }, response) => {
      sent.push(headers['x-city']);
      response.end('a page');
      return true;
    },
  });
  project = await createProject({
    settings: 'SETTINGS_SCHEMA: ./settings.ts\nSHOP_CITY: Bonn\n',
    files: { 'settings.ts': settings, 'spiders/shop.ts': spider },
  });
});
const run = (args: string, env: Record<string, string> = {}) =>
  runHere(args.split(' '), { cwd: project.dir, env });

describe('a crawl', () => {
  it('gives them to spider, pipeline, middleware and extension', async () => {
    await project.write(
      'crawlnode.yaml',
      `SETTINGS_SCHEMA: ./settings.ts
SHOP_CITY: Bonn
ITEM_PIPELINES: { ./pipeline.ts: 1 }
DOWNLOADER_MIDDLEWARES: { ./middleware.ts: 1 }
EXTENSIONS: { ./extension.ts: 1 }
`,
    );
    await project.write(
      'pipeline.ts',
      'export default class { open({ settings }) { this.city = settings.SHOP_CITY; } processItem({ item }) { return { ...item, pipeline: this.city }; } }',
    );
    await project.write(
      'middleware.ts',
      "export default class { open({ settings }) { this.city = settings.SHOP_CITY; } processRequest(request) { request.headers['x-city'] = this.city; } }",
    );
    await project.write(
      'extension.ts',
      "export default class { open(context) { this.context = context; } spiderOpened() { this.context.stats.setValue('city', this.context.settings.SHOP_CITY); } }",
    );
    const { code, summary, lines, stderr } = await crawlLines(project, 'shop', '-a', `url=${site.url}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(lines).toEqual([{ city: 'Bonn', limit: 20, pipeline: 'Bonn' }]);
    expect(sent).toEqual(['Bonn']);
    expect(summary.customStats).toEqual({ city: 'Bonn' });
  });

  it('is refused without a value that it needs, and other commands are not', async () => {
    await project.write('crawlnode.yaml', 'SETTINGS_SCHEMA: ./settings.ts\n');
    const missing = { code: 2, stderr: expect.stringContaining('SHOP_CITY has no value, and ./settings.ts') };
    expect(await run('crawl shop --exit-when-done')).toMatchObject(missing);
    expect(await run('crawl shop --exit-when-done --workers 2')).toMatchObject(missing);
    expect(await run('crawl shop --dry-run')).toMatchObject(missing);
    expect(await run('seed shop http://a.example/')).toMatchObject(missing);
    for (const args of ['stats shop', 'stats', 'list', 'doctor', 'settings SHOP_CITY'])
      expect(await run(args)).toMatchObject({ code: 0 });
    expect(await run('crawl shop --dry-run -s SHOP_CITY=Ulm')).toMatchObject({ code: 0 });
  });

  it('names the value that is missing when a field of the spider fails for it', async () => {
    await project.write('crawlnode.yaml', 'SETTINGS_SCHEMA: ./settings.ts\n');
    await project.write(
      'spiders/shop.ts',
      spider.replace('startUrls = ', 'city = this.settings.SHOP_CITY.toUpperCase(); startUrls = '),
    );
    const { code, stderr } = await run('crawl shop --exit-when-done');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/constructing it failed at .*shop\.ts:.*\\nSHOP_CITY has no value/),
    });
  });
});

describe('settings', () => {
  it('lists them with value, unit and source, secrets masked', async () => {
    const env = { SHOP_API_KEY: 'hunter2-hunter2' };
    const { stdout } = await run('settings --spider shop', env);
    expect(stdout).toMatch(
      /\nSHOP_CITY +"Bonn" +\(file\)\nSHOP_LIMIT +20 pages +\(spider\)\nSHOP_API_KEY +"\*\*\*" +\(environment\)\n$/,
    );
    expect(JSON.parse((await run('settings SHOP_CITY SHOP_API_KEY --json -s SHOP_CITY=Ulm')).stdout)).toEqual(
      {
        SHOP_CITY: { value: 'Ulm', source: 'cli' },
        SHOP_API_KEY: { value: null, source: 'default' },
      },
    );
    expect(await run('settings --changed')).toMatchObject({
      stdout: expect.not.stringContaining('SHOP_LIMIT'),
    });
  });

  it.each([
    ['settings -s SHOP_LIMIT=0', 'the command line: SHOP_LIMIT: ./settings.ts does not accept 0: Too small'],
    ['settings -s SHOP_LIMITS=1', 'unknown setting SHOP_LIMITS; did you mean SHOP_LIMIT?'],
    ['settings SHOP_TOWN', 'unknown setting SHOP_TOWN'],
    ['settings -s SETTINGS_SCHEMA=./sttings.ts', 'SETTINGS_SCHEMA names ./sttings.ts: there is no file'],
    [
      'settings -s SETTINGS_SCHEMA=settings',
      'SETTINGS_SCHEMA names settings: it is not the path of a module',
    ],
    ['settings -s SETTINGS_SCHEMA=./spiders/shop.ts', 'has to export a zod object by default'],
    ['settings -s SETTINGS_SCHEMA=./broken.ts', 'broken.ts:1:7 does not load: Error: no database'],
  ])('%s is refused', async (args, message) => {
    await project.write('broken.ts', 'throw new Error("no database");');
    const { code, stderr } = await run(args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

it('doctor sees a schema that others can write to', async () => {
  chmodSync(project.path('settings.ts'), 0o666);
  const { stdout } = await run('doctor');
  expect(stdout).toMatch(/others can write to what runs as this user: .*settings\.ts/);
});

describe('programs', () => {
  class Shop extends Spider {
    override name = 'shop';
    override startUrls = [site.url];
    override *parse() {
      yield { settings: (this.settings as unknown as Record<string, unknown>).SHOP_CITY };
    }
  }
  /** The type of a project is not declared in this repository. */
  const own = (values: object) => values as SettingsInput;

  it('read the schema of the project, and give values that override', async () => {
    const items: unknown[] = [];
    const onItem = (item: unknown) => items.push(item);
    const { reason } = await crawl(Shop, { cwd: project.dir, settings: own({ SHOP_CITY: 'Ulm' }), onItem });
    expect({ reason, items }).toEqual({ reason: 'finished', items: [{ settings: 'Ulm' }] });
  });

  it('give the schema itself where no project is read', async () => {
    const SETTINGS_SCHEMA = z.object({ SHOP_CITY: z.string() });
    const page = new Response({
      url: 'http://a.example/',
      status: 200,
      headers: {},
      body: Buffer.alloc(0),
      request: new Request('http://a.example/'),
    });
    const { items } = await runSpider(Shop, page, { settings: own({ SETTINGS_SCHEMA, SHOP_CITY: 'Ulm' }) });
    expect(items).toEqual([{ settings: 'Ulm' }]);
    await expect(runSpider(Shop, page, { settings: { SETTINGS_SCHEMA } })).rejects.toThrow(
      'SHOP_CITY has no value, and the schema of the program gives it no default',
    );
    await expect(runSpider(Shop, page, { settings: own({ SHOP_CITY: 'Ulm' }) })).rejects.toThrow(
      'unknown setting SHOP_CITY',
    );
  });
});

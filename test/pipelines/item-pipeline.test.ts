/** Items pass the pipelines in order; what each may do with them. */
import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CloseSpider, DropItem, SettingsError } from '../../src/errors.js';
import { silentLogger, spiderLogger } from '../../src/log.js';
import { FilesPipeline } from '../../src/pipelines/files/media-pipeline.js';
import { type ItemPipeline, loadPipelines, type PipelineInput } from '../../src/pipelines/item-pipeline.js';
import type { Settings } from '../../src/settings/schema.js';
import { loadModule } from '../../src/spider/loading/load-module.js';
import { uncountedStats } from '../../src/stats/stats.js';
import type { CrawlContext } from '../../src/user-code/crawl-context.js';
import { type TempDir, tempDir } from '../helpers/temp-dir.js';

let folder: TempDir;
beforeEach(async () => {
  folder = tempDir('pipelines');
  await mkdir(join(folder.dir, 'pipelines'));
});
afterEach(() => folder.remove());

interface Choice {
  readonly addNodeId?: boolean;
  readonly log?: typeof silentLogger;
  readonly keepsErrors?: boolean;
}

/** Pipelines of these numbers; those given as code stand in for a module that exports it. */
function pipelines(
  numbers: Record<string, number | null>,
  code: Record<string, unknown> = {},
  choice: Choice = {},
) {
  for (const name of Object.keys(code)) writeFileSync(join(folder.dir, name), '');
  return loadPipelines({
    pipelines: numbers,
    projectDir: folder.dir,
    loadModule: async (path) => ({ default: code[`./pipelines/${path.split('/').at(-1)}`] }),
    context: contextOf(choice.log),
    addNodeId: choice.addNodeId ?? false,
    keepsErrors: choice.keepsErrors ?? false,
    maxPageBytes: 1_000_000,
  });
}

const contextOf = (log = silentLogger): CrawlContext => ({
  ...{
    nodeId: 'node-1',
    spider: 'quotes',
    job: null,
    settings: {} as Settings,
    stats: uncountedStats,
    log: spiderLogger(log),
  },
});

const append = (letter: string) => (input: PipelineInput) => ({ path: `${input.item.path ?? ''}${letter}` });

test('items go to the list and the feeds in the order they were yielded, as one text', async () => {
  const { process } = await pipelines({ RedisPipeline: 300 });
  const out = await process([{ n: 1 }, { n: 2 }]);
  expect(out).toEqual({
    listItems: ['{"n":1}', '{"n":2}'],
    feedItems: ['{"n":1}', '{"n":2}'],
    listChars: 14,
    feedChars: 14,
    numbers: [1, 2],
    waiting: [],
    scraped: 2,
    drops: [],
    broken: 0,
    closing: null,
  });
});

test('pipelines run in ascending number, and the list holds items as they were where RedisPipeline stands', async () => {
  const code = {
    './pipelines/a.ts': append('a'),
    './pipelines/b.ts': append('b'),
    './pipelines/c.ts': append('c'),
  };
  const { process } = await pipelines(
    { './pipelines/c.ts': 900, './pipelines/b.ts': 200, RedisPipeline: 300, './pipelines/a.ts': 100 },
    code,
  );
  const out = await process([{}]);
  expect(out.listItems).toEqual(['{"path":"ab"}']);
  expect(out.feedItems).toEqual(['{"path":"abc"}']);
});

test('the dotted path of Scrapy-Redis is RedisPipeline; without it, or switched off, nothing goes to the list', async () => {
  const dotted = await pipelines({ 'scrapy_redis.pipelines.RedisPipeline': 300 });
  expect((await dotted.process([{ n: 1 }])).listItems).toEqual(['{"n":1}']);
  const off = await pipelines({ RedisPipeline: null });
  expect(await off.process([{ n: 1 }])).toMatchObject({ listItems: [], feedItems: ['{"n":1}'], scraped: 1 });
});

test('ITEM_NODE_ID adds node_id in the list only', async () => {
  const { process } = await pipelines({ RedisPipeline: 300 }, {}, { addNodeId: true });
  const out = await process([{ n: 1 }, {}, { node_id: 'mine', n: 2 }]);
  expect(out.listItems.map((text) => JSON.parse(text))).toEqual([
    { n: 1, node_id: 'node-1' },
    { node_id: 'node-1' },
    { node_id: 'node-1', n: 2 },
  ]);
  expect(out.feedItems[0]).toBe('{"n":1}');
});

test('DropItem drops one item and counts it; the others go on', async () => {
  const drop = ({ item }: PipelineInput) => {
    if (item.n % 2 === 1) throw new DropItem(`${item.n} is odd`);
  };
  const early = await pipelines(
    { './pipelines/drop.ts': 100, RedisPipeline: 300 },
    { './pipelines/drop.ts': drop },
  );
  expect(await early.process([{ n: 1 }, { n: 2 }, { n: 3 }])).toEqual({
    listItems: ['{"n":2}'],
    feedItems: ['{"n":2}'],
    listChars: 7,
    feedChars: 7,
    numbers: [1],
    waiting: [],
    scraped: 1,
    drops: [
      { pipeline: './pipelines/drop.ts', reason: '1 is odd' },
      { pipeline: './pipelines/drop.ts', reason: '3 is odd' },
    ],
    broken: 0,
    closing: null,
  });
  const late = await pipelines(
    { './pipelines/drop.ts': 400, RedisPipeline: 300 },
    { './pipelines/drop.ts': drop },
  );
  expect(await late.process([{ n: 1 }])).toMatchObject({
    listItems: ['{"n":1}'],
    feedItems: [],
    scraped: 0,
    drops: [{ pipeline: './pipelines/drop.ts', reason: '1 is odd' }],
    broken: 0,
  });
});

test('items that cannot fit are refused before their JSON is made, in the list and in the feeds', async () => {
  const { process } = await pipelines({ RedisPipeline: 300 });
  // Far more JSON than V8's longest string holds.
  const text = '\u0001'.repeat(100_000_000);
  const tooMany = { code: 'too_many_items', message: expect.stringContaining('more than 1000000 bytes') };
  await expect(process([{ text }])).rejects.toMatchObject(tooMany);
  await expect(process([{ list: [{ [text]: 1 }] }])).rejects.toMatchObject(tooMany);
  await expect(process(new Array(400_000).fill({}).map(() => ({})))).resolves.toMatchObject({
    scraped: 400_000,
  });
  const half = { text: 'x'.repeat(600_000) };
  await expect(process([half, half])).rejects.toMatchObject(tooMany);
  const drop = () => {
    throw new DropItem('small');
  };
  const dropping = await pipelines({ './pipelines/drop.ts': 1 }, { './pipelines/drop.ts': drop });
  await expect(dropping.process([half, half])).resolves.toMatchObject({ scraped: 0 });
  const keeping = await pipelines({ RedisPipeline: 300 }, {}, { keepsErrors: true });
  await expect(keeping.process([{ text }])).rejects.toMatchObject(tooMany);
});

test('CloseSpider drops its item, and the page says so; the others go on', async () => {
  const quota = ({ item }: PipelineInput) => {
    if (item.n === 2) throw new CloseSpider('quota');
  };
  const { process } = await pipelines(
    { './pipelines/quota.ts': 400, RedisPipeline: 300 },
    { './pipelines/quota.ts': quota },
  );
  expect(await process([{ n: 1 }, { n: 2 }, { n: 3 }])).toMatchObject({
    ...{ listItems: ['{"n":1}', '{"n":3}'], feedItems: ['{"n":1}', '{"n":3}'] },
    ...{ scraped: 2, drops: [{ reason: 'quota' }], broken: 0, closing: 'quota' },
  });
});

test('an observer hears what became of each item, as the pipelines left it', async () => {
  const odd = ({ item }: PipelineInput) => {
    if (item.n === 2) throw new DropItem('even');
    if (item.n === 3) throw new TypeError('no price');
    return { ...item, seen: true };
  };
  const heard: unknown[] = [];
  const observer = {
    scraped: async (item: object) => void heard.push(['scraped', item]),
    dropped: async (item: object, error: Error) => void heard.push(['dropped', item, error.message]),
    failed: async (item: object, error: Error) =>
      void heard.push(['failed', item, error.name, error.message]),
  };
  const { process } = await pipelines({ './pipelines/odd.ts': 1 }, { './pipelines/odd.ts': odd });
  await expect(process([{ n: 1 }, { n: 2 }, { n: 3 }], observer)).rejects.toThrow('no price');
  expect(heard).toEqual([
    ['scraped', { n: 1, seen: true }],
    ['dropped', { n: 2 }, 'even'],
    ['failed', { n: 3 }, 'TypeError', 'no price'],
  ]);
});

test('an async pipeline that changes its item in place and returns nothing is fine', async () => {
  const clean = async ({ item, nodeId, spider, job }: PipelineInput) => {
    await new Promise(setImmediate);
    Object.assign(item, { nodeId, spider, job });
  };
  const { process } = await pipelines({ './pipelines/clean.ts': 1 }, { './pipelines/clean.ts': clean });
  expect((await process([{ n: 1 }])).feedItems).toEqual([
    '{"n":1,"nodeId":"node-1","spider":"quotes","job":null}',
  ]);
});

test.each([
  [
    'throws',
    () => {
      throw new RangeError('no price');
    },
    'no price',
  ],
  ['returns null', () => null, 'returned null'],
  ['returns a list', () => [], 'returned a list'],
  ['returns what is no JSON', () => ({ big: 1n }), 'BigInt'],
])('a pipeline that %s fails the page and is named', async (_what, code, says) => {
  const { process } = await pipelines(
    { './pipelines/bad.ts': 1, RedisPipeline: 2 },
    { './pipelines/bad.ts': code },
  );
  const error = await process([{ n: 1 }]).catch((e) => e);
  expect(error).toMatchObject({
    code: 'pipeline_error',
    message: expect.stringMatching(/^\.\/pipelines\/bad\.ts: /),
  });
  expect(error.message).toContain(says);
  expect(error.cause).toBeInstanceOf(Error);
});

test('pipelines are opened in order and closed in reverse, each once, also when closing one fails', async () => {
  const calls: string[] = [];
  const errors: string[] = [];
  const recorder = (name: string, closing = () => {}) =>
    class implements ItemPipeline {
      open() {
        calls.push(`open ${name}`);
      }
      processItem() {}
      close() {
        calls.push(`close ${name}`);
        closing();
      }
    };
  const code = {
    './pipelines/a.ts': recorder('a'),
    './pipelines/b.ts': recorder('b', () => {
      throw new Error('stuck');
    }),
  };
  const log = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) };
  const both = await pipelines({ './pipelines/a.ts': 1, './pipelines/b.ts': 2 }, code, { log });
  await both.open();
  await both.close();
  await both.close();
  expect(calls).toEqual(['open a', 'open b', 'close b', 'close a']);
  expect(errors).toEqual([
    expect.stringMatching(/^close\(\) of \.\/pipelines\/b\.ts failed: stuck \(test\S+:\d+:\d+\)$/),
  ]);
});

test('a pipeline that does not open names itself, and those before it are closed', async () => {
  const calls: string[] = [];
  const code = {
    './pipelines/a.ts': {
      open: () => calls.push('open'),
      processItem() {},
      close: () => calls.push('close'),
    },
    './pipelines/b.ts': {
      open: () => {
        throw new Error('no database');
      },
      processItem() {},
    },
  };
  const both = await pipelines({ './pipelines/a.ts': 1, './pipelines/b.ts': 2 }, code);
  await expect(both.open()).rejects.toThrow(
    /^open\(\) of \.\/pipelines\/b\.ts failed: no database \(test\S+:\d+:\d+\)$/,
  );
  expect(calls).toEqual(['open', 'close']);
});

test('an unknown pipeline is a SettingsError that lists those that exist', async () => {
  writeFileSync(join(folder.dir, 'pipelines', 'clean.ts'), '');
  writeFileSync(join(folder.dir, 'pipelines', 'notes.txt'), '');
  for (const name of ['./pipelines/clena.ts', 'RedisPipline', 'myproject.pipelines.Clean']) {
    const error = await pipelines({ [name]: 1 }).catch((e) => e);
    expect(error).toBeInstanceOf(SettingsError);
    expect(error.message).toContain(name);
    expect(error.message).toContain(
      'There are: RedisPipeline, FilesPipeline, ImagesPipeline, ./pipelines/clean.ts.',
    );
  }
});

test.each([
  ['nothing', undefined],
  ['a class without processItem', class {}],
  ['a number', 3],
])('a module that exports %s is refused', async (_what, exported) => {
  const loading = pipelines({ './pipelines/x.ts': 1 }, { './pipelines/x.ts': exported });
  await expect(loading).rejects.toThrow('whose default export is not a pipeline');
});

test('a TypeScript module of a project is loaded, and its DropItem is understood', async () => {
  const code = `import { DropItem } from 'crawlnode';
export default class Clean {
  processItem({ item }: { item: { text?: string } }) {
    if (!item.text) throw new DropItem('no text');
    return { ...item, text: item.text.trim() };
  }
}`;
  writeFileSync(join(folder.dir, 'pipelines', 'clean.ts'), code);
  const { process } = await loadPipelines({
    pipelines: { './pipelines/clean.ts': 200, RedisPipeline: 300 },
    projectDir: folder.dir,
    loadModule,
    context: contextOf(),
  });
  expect(await process([{ text: ' a ' }, { text: '' }])).toMatchObject({
    listItems: ['{"text":"a"}'],
    drops: [{ reason: 'no text' }],
    broken: 0,
  });
});

test.each([
  [
    'a Map',
    { price: new Map([['EUR', 1]]) },
    'item.price is a Map, which does not survive JSON; give Object.fromEntries(it)',
  ],
  [
    'a promise',
    { prices: [Promise.resolve(1)] },
    'item.prices[0] is a Promise, which does not survive JSON; await it',
  ],
])(
  'a pipeline that puts %s into an item fails the page, since JSON would be {}',
  async (_, fields, message) => {
    const add = { processItem: ({ item }: PipelineInput) => ({ ...item, ...fields }) };
    const chain = await pipelines({ './pipelines/add.ts': 1 }, { './pipelines/add.ts': add });
    await expect(chain.process([{ a: 1 }])).rejects.toMatchObject({
      code: 'pipeline_error',
      message: `./pipelines/add.ts: ${message}`,
    });
  },
);

test('a pipeline may put dates and instances with fields into an item', async () => {
  class Price {
    euros = 3;
  }
  const add = {
    processItem: ({ item }: PipelineInput) => ({ ...item, at: new Date(0), price: new Price(), none: {} }),
  };
  const chain = await pipelines({ './pipelines/add.ts': 1 }, { './pipelines/add.ts': add });
  const { feedItems } = await chain.process([{ a: 1 }]);
  expect(feedItems).toEqual(['{"a":1,"at":"1970-01-01T00:00:00.000Z","price":{"euros":3},"none":{}}']);
});

test.each([
  [
    'a class',
    class {
      constructor() {
        throw new Error('no database');
      }
      processItem() {}
    },
  ],
  [
    'a class of files',
    class extends FilesPipeline {
      constructor() {
        super();
        throw new Error('no database');
      }
    },
  ],
])('%s whose constructor throws is refused by name', async (_, exported) => {
  await expect(pipelines({ './pipelines/add.ts': 1 }, { './pipelines/add.ts': exported })).rejects.toThrow(
    new SettingsError(
      'ITEM_PIPELINES names ./pipelines/add.ts, whose constructor threw an error: no database',
    ),
  );
});

/** Settings of a project's own, declared by a zod object. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SettingsError } from '../../../src/errors.js';
import { maskSetting, secretFilter } from '../../../src/settings/mask-secrets.js';
import { ownSettings } from '../../../src/settings/own/own-settings.js';
import { type LoadOptions, loadSettings } from '../../../src/settings/sources/load-settings.js';
import { schemaSetting } from '../../../src/settings/sources/schema-setting.js';
import { noSettingsFile } from '../../../src/settings/sources/yaml-file.js';

const schema = z.object({
  SHOP_PAGES: z.int().min(1).max(500).default(10).meta({ unit: 'pages' }),
  SHOP_TOKEN: z.string().optional(),
  SHOP_LISTS: z.array(z.string()).default([]),
  SHOP_IDS: z.array(z.number()).optional(),
  SHOP_STRICT: z.boolean().default(false),
  SHOP_SIZES: z.record(z.string(), z.number()).default({}),
  SHOP_SINCE: z.coerce.date().optional(),
  SHOP_ZIP: z
    .string()
    .regex(/^\d{5}$/)
    .optional(),
  SHOP_DELAY: z.number().nullable().default(null),
});
const options = { cwd: '/nowhere', file: false, env: {}, cli: {} } as const;
const load = (more: Partial<LoadOptions> = {}, declared: z.ZodObject = schema) =>
  loadSettings({ ...options, ...more }, { own: ownSettings(declared, './settings.ts') });
/** The own settings alone; the type of a project is not declared in this repository. */
const valuesOf = (more?: Partial<LoadOptions>, declared?: z.ZodObject) =>
  load(more, declared).settings as unknown as Record<string, unknown>;
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

describe('values', () => {
  it('are defaults of the schema, beside the settings of crawlnode', () => {
    const { settings, sources, missing } = load();
    expect(settings).toMatchObject({ SHOP_PAGES: 10, SHOP_LISTS: [], SHOP_STRICT: false, RETRY_TIMES: 2 });
    expect(sources).toMatchObject({ SHOP_PAGES: 'default', SHOP_TOKEN: 'default' });
    expect(missing).toEqual([]);
  });

  it('come from the same layers, in the same order', () => {
    const spider = { settings: { SHOP_PAGES: 1, SHOP_LISTS: ['a'], SHOP_STRICT: true }, where: 'a spider' };
    const env = { SHOP_PAGES: '2', SHOP_LISTS: 'b, c' };
    const { settings, sources } = load({ spider, env, cli: { SHOP_PAGES: '3' } });
    expect(settings).toMatchObject({ SHOP_PAGES: 3, SHOP_LISTS: ['b', 'c'], SHOP_STRICT: true });
    expect(sources).toMatchObject({ SHOP_PAGES: 'cli', SHOP_LISTS: 'environment', SHOP_STRICT: 'spider' });
  });

  it.each([
    ['SHOP_PAGES', '25', 25],
    ['SHOP_TOKEN', '25', '25'],
    ['SHOP_TOKEN', 'true', 'true'],
    ['SHOP_LISTS', '', []],
    ['SHOP_LISTS', '["a,b"]', ['a,b']],
    ['SHOP_IDS', '1, 2', [1, 2]],
    ['SHOP_STRICT', 'Yes', true],
    ['SHOP_STRICT', '0', false],
    ['SHOP_SIZES', '{"s":1}', { s: 1 }],
    ['SHOP_SINCE', '2026-01-02', new Date('2026-01-02')],
    ['SHOP_ZIP', '01234', '01234'],
    ['SHOP_DELAY', 'null', null],
    ['SHOP_DELAY', '1.5', 1.5],
  ])('the text of %s, %s, is read by its type', (name, text, value) => {
    expect(valuesOf({ cli: { [name]: text } })[name]).toEqual(value);
  });

  it('z.coerce.boolean() reads false as false', () => {
    const flags = z.object({ SHOP_FLAG: z.coerce.boolean() });
    expect(valuesOf({ cli: { SHOP_FLAG: 'false' } }, flags).SHOP_FLAG).toBe(false);
    expect(valuesOf({ cli: { SHOP_FLAG: 'on' } }, flags).SHOP_FLAG).toBe(true);
  });

  it('are what the schema makes of them', () => {
    const urls = z.object({ SHOP_API: z.url().transform((url) => new URL(url)) });
    expect(valuesOf({ env: { SHOP_API: 'https://a.example/' } }, urls).SHOP_API).toEqual(
      new URL('https://a.example/'),
    );
  });

  it('of one spider only are found missing when the spider is created', () => {
    const declared = z.object({ SHOP_CITY: z.string() });
    expect(load({}, declared).missing).toEqual([
      'SHOP_CITY has no value, and ./settings.ts gives it no default: set it in the settings file, in the environment or with -s',
    ]);
    const spider = { settings: { SHOP_CITY: 'Bonn' }, where: 'a spider' };
    expect(load({ spider }, declared).missing).toEqual([]);
  });
});

describe('refused are', () => {
  it.each([
    [
      { SHOP_PAGES: 'many' },
      'SHOP_PAGES: ./settings.ts does not accept "many": Invalid input: expected number',
    ],
    [
      { SHOP_PAGES: '501' },
      'SHOP_PAGES: ./settings.ts does not accept 501: Too big: expected number to be <=500',
    ],
    [{ SHOP_SIZES: '{"s":"x"}' }, 'SHOP_SIZES: ./settings.ts does not accept {"s":"x"}: s: Invalid input'],
    [{ SHOP_ZIP: '123' }, 'SHOP_ZIP: ./settings.ts does not accept "123": Invalid string'],
  ])('%j: value, name and place are in the message', (cli, message) => {
    expect(refusal(() => load({ cli }))).toContain(`the command line: ${message}`);
  });

  it('unknown names, with the nearest one and where to declare one', () => {
    expect(refusal(() => load({ cli: { SHOP_PAGE: '1' } }))).toBe(
      'the command line: unknown setting SHOP_PAGE; did you mean SHOP_PAGES?\n' +
        'a setting of your own is declared in ./settings.ts, which SETTINGS_SCHEMA names',
    );
    expect(refusal(() => loadSettings({ ...options, cli: { SHOP_PAGES: '1' } }))).toContain(
      'a setting of your own is declared in a module that SETTINGS_SCHEMA names',
    );
    expect(refusal(() => load({ cli: { LOG_ENABLED: '1' } }))).not.toContain('of your own');
  });

  it('a secret without showing it', () => {
    const secrets = z.object({ SHOP_API_KEY: z.string().min(20) });
    expect(refusal(() => load({ cli: { SHOP_API_KEY: 'hunter2' } }, secrets))).toContain(
      'does not accept "***"',
    );
  });

  it('values that contradict each other, by a refinement of the whole schema', () => {
    const range = z
      .object({ SHOP_FIRST: z.int().default(1), SHOP_LAST: z.int().default(9) })
      .refine(({ SHOP_FIRST, SHOP_LAST }) => SHOP_FIRST <= SHOP_LAST, {
        path: ['SHOP_LAST'],
        message: 'is before SHOP_FIRST',
      });
    expect(valuesOf({ cli: { SHOP_FIRST: '9' } }, range).SHOP_FIRST).toBe(9);
    expect(refusal(() => load({ cli: { SHOP_LAST: '0' } }, range))).toBe(
      'the command line: SHOP_LAST: is before SHOP_FIRST',
    );
  });

  it('schemas that are none, and names that cannot be used', () => {
    const declare = (schema: unknown) => refusal(() => ownSettings(schema, './settings.ts'));
    for (const schema of [undefined, null, {}, z.string(), { SHOP_PAGES: z.int() }]) {
      expect(declare(schema)).toContain('./settings.ts has to export a zod object by default');
    }
    expect(declare(z.object({ RETRY_TIMES: z.int(), shopPages: z.int() }))).toBe(
      './settings.ts: RETRY_TIMES is a setting of crawlnode; choose another name, such as SHOP_RETRY_TIMES\n' +
        './settings.ts: "shopPages" cannot name a setting: use capital letters, digits and underscores',
    );
  });

  it('SETTINGS_SCHEMA in customSettings, which are read too late', () => {
    const spider = { settings: { SETTINGS_SCHEMA: './other.ts' }, where: 'a spider' };
    expect(refusal(() => load({ spider }))).toContain('SETTINGS_SCHEMA is read before any spider');
  });
});

describe('secrets', () => {
  const secrets = z.object({
    SHOP_PASSWORD: z.string(),
    SHOP_KEYS: z.array(z.string()),
    SHOP_CODE: z.string().meta({ secret: true }),
    SHOP_TOKEN: z.string().meta({ secret: false }),
    SHOP_DATABASE: z.string(),
  });
  const own = ownSettings(secrets, './settings.ts');
  const settings = {
    SHOP_PASSWORD: 'hunter2',
    SHOP_KEYS: ['first-key', 'second-key'],
    SHOP_CODE: 'code-1234',
    SHOP_TOKEN: 'visible',
    SHOP_DATABASE: 'postgres://shop:pg-secret@db/shop',
  };

  it('are masked by their name, by the schema, and in URLs', () => {
    const masked = Object.entries(settings).map(([name, value]) => maskSetting(name, value, own));
    expect(masked).toEqual(['***', '***', '***', 'visible', 'postgres://shop:***@db/shop']);
  });

  it('are masked in all output', () => {
    const filter = secretFilter(settings as never, own);
    expect(filter(JSON.stringify({ ...settings, text: 'pg-secret and second-key' }))).toBe(
      '{"SHOP_PASSWORD":"***","SHOP_KEYS":["***","***"],"SHOP_CODE":"***","SHOP_TOKEN":"visible",' +
        '"SHOP_DATABASE":"postgres://shop:***@db/shop","text":"*** and ***"}',
    );
  });
});

it('SETTINGS_SCHEMA is found before the other settings: program, command line, environment, file', () => {
  const file = {
    ...noSettingsFile('/nowhere'),
    entries: new Map([['SETTINGS_SCHEMA', { value: './file.ts', where: 'crawlnode.yaml:1:1' }]]),
  };
  const find = (more: Partial<LoadOptions>) => schemaSetting({ ...options, ...more }, file);
  expect(find({})).toBe('./file.ts');
  expect(find({ env: { SETTINGS_SCHEMA: './env.ts' } })).toBe('./env.ts');
  expect(find({ env: { SETTINGS_SCHEMA: './env.ts' }, cli: { SETTINGS_SCHEMA: './cli.ts' } })).toBe(
    './cli.ts',
  );
  expect(find({ cli: { SETTINGS_SCHEMA: 'null' } })).toBeNull();
  expect(find({ code: { settings: { SETTINGS_SCHEMA: schema }, where: 'code' } })).toBe(schema);
});

describe('a schema with a mistake', () => {
  const said = (type: unknown, text: string) =>
    refusal(() => valuesOf({ cli: { SHOP_X: text } }, z.object({ SHOP_X: type as z.ZodType })));

  it('shows the text where no other reading fits', () => {
    expect(said(z.enum(['a', 'b']), 'c')).toContain('does not accept "c": Invalid option');
  });

  it('is not taken for a wrong value: a refinement that throws or is asynchronous gets the number', () => {
    const throwing = z.number().refine(() => {
      throw new Error('no table of prices');
    });
    expect(said(throwing, '3')).toContain('does not accept 3: no table of prices');
    const asynchronous = z.number().refine(async () => true);
    expect(said(asynchronous, '3')).toMatch(
      /does not accept 3: .* asynchronous; settings need synchronous ones/,
    );
  });

  it('is refused by name for a field that is no type', () => {
    expect(said(z.regex, 'x')).toBe('./settings.ts: SHOP_X is no type of zod: give one, such as z.string()');
  });
});

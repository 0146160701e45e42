/** Settings: layers, values, names, secrets, and the file that documents them. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { documentSettings } from '../../../scripts/docs/settings-file.js';
import { SettingsError } from '../../../src/errors.js';
import { defineSettings } from '../../../src/settings/define-settings.js';
import { maskSetting, secretFilter } from '../../../src/settings/mask-secrets.js';
import { maskUrls } from '../../../src/settings/mask-urls.js';
import { definitionOf, settingNames } from '../../../src/settings/schema.js';
import { type LoadOptions, loadSettings } from '../../../src/settings/sources/load-settings.js';
import { unknownSettingAdvice } from '../../../src/settings/unknown-settings.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'crawlnode-settings-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const load = (options: Partial<LoadOptions> = {}) => loadSettings({ cwd: dir, env: {}, cli: {}, ...options });
const write = (text: string, name = 'crawlnode.yaml') => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  writeFileSync(path.join(dir, name), text);
};
const refusal = (options: Partial<LoadOptions> = {}): string => {
  try {
    load(options);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

describe('layers', () => {
  it('a job may be named "none"', () => {
    expect(load({ cli: { JOB: 'none' } }).settings.JOB).toBe('none');
  });

  it("without any layer, every setting has Scrapy's default or the stated one", () => {
    const { settings, sources, file, notices } = load();
    expect(settings).toMatchObject({
      CONCURRENT_REQUESTS: 16,
      CONCURRENT_REQUESTS_PER_DOMAIN: 8,
      DOWNLOAD_TIMEOUT: 180,
      DOWNLOAD_MAXSIZE: 64 * 1024 ** 2,
      ROBOTSTXT_OBEY: true,
      SCHEDULER_PERSIST: true,
      ITEM_PIPELINES: { RedisPipeline: 300 },
      SPIDER_MODULES: [path.join(dir, 'spiders')],
      JOBDIR: path.join(dir, '.crawlnode'),
    });
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
    expect(file).toBeNull();
    expect(notices).toEqual([]);
  });

  it('a key named __proto__ does nothing within a setting, and is an unknown setting beside them', () => {
    write('DEFAULT_REQUEST_HEADERS:\n  __proto__: { polluted: "yes" }\n  constructor: c\n');
    const { DEFAULT_REQUEST_HEADERS: headers } = load().settings;
    expect(Object.entries(headers)).toEqual([['constructor', 'c']]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    write('__proto__:\n  CONCURRENT_REQUESTS: 3\n');
    expect(refusal()).toContain('unknown setting __proto__');
  });

  it('the command line wins over the environment, that over the spider, that over the file', () => {
    write('RETRY_TIMES: 1\nDOWNLOAD_DELAY: 1\nCONCURRENT_REQUESTS: 1\nNODE_TIMEOUT: 41\n');
    const { settings, sources } = load({
      spider: {
        settings: { DOWNLOAD_DELAY: 2, CONCURRENT_REQUESTS: 2, RETRY_TIMES: 2 },
        where: 'spiders/a.ts',
      },
      env: { CONCURRENT_REQUESTS: '3', RETRY_TIMES: '3' },
      cli: { RETRY_TIMES: '4' },
    });
    expect(settings).toMatchObject({
      RETRY_TIMES: 4,
      CONCURRENT_REQUESTS: 3,
      DOWNLOAD_DELAY: 2,
      NODE_TIMEOUT: 41,
    });
    expect(sources).toMatchObject({
      RETRY_TIMES: 'cli',
      CONCURRENT_REQUESTS: 'environment',
      DOWNLOAD_DELAY: 'spider',
      NODE_TIMEOUT: 'file',
      JOB: 'default',
    });
  });

  it('settings are frozen through and through', () => {
    const { settings } = load();
    expect(Object.isFrozen(settings)).toBe(true);
    expect(Object.isFrozen(settings.ITEM_PIPELINES)).toBe(true);
  });

  it('crawlnode.yaml goes before config/crawlnode.yaml, and -c before both', () => {
    write('RETRY_TIMES: 7\n', 'config/crawlnode.yaml');
    expect(load()).toMatchObject({ settings: { RETRY_TIMES: 7 }, projectDir: dir });
    write('RETRY_TIMES: 8\n');
    expect(load().settings.RETRY_TIMES).toBe(8);
    write('RETRY_TIMES: 9\n', 'other/mine.yaml');
    const other = load({ configFile: 'other/mine.yaml' });
    expect(other.settings.RETRY_TIMES).toBe(9);
    expect(other.settings.JOBDIR).toBe(path.join(dir, 'other', '.crawlnode'));
  });

  it('a settings file is bounded, whatever kind of file it is', async () => {
    expect(() => load({ configFile: '/dev/zero' })).toThrow(
      /settings file \/dev\/zero: .* larger than 1048576 bytes/,
    );
    write(`# ${'x'.repeat(1_100_000)}`, 'large.yaml');
    expect(() => load({ configFile: 'large.yaml' })).toThrow(/large\.yaml: .* larger than/);
    expect(load({ configFile: '/dev/null' }).file).toBe('/dev/null');
    const pipe = path.join(dir, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);
    expect(() => load({ configFile: pipe })).toThrow(/a named pipe, and nothing writes to it/);
    spawn('sh', ['-c', `echo 'JOB: late' > "${pipe}"`]);
    await vi.waitFor(() => expect(load({ configFile: pipe }).settings.JOB).toBe('late'));
  });

  it('of the environment only names in the schema are read, and an empty one is unset', () => {
    const { settings } = load({ env: { CONCURENT_REQUESTS: 'x', REDIS_URL: '', PATH: '/bin' } });
    expect(settings.REDIS_URL).toBeNull();
  });

  it('a foreign value of a name that other programs use too is passed over with a warning', () => {
    write('LOG_LEVEL: DEBUG\n');
    const { settings, warnings, sources } = load({ env: { LOG_LEVEL: 'verbose', NODE_ID: 'my node' } });
    expect(settings).toMatchObject({ LOG_LEVEL: 'debug', NODE_ID: null });
    expect(sources.LOG_LEVEL).toBe('file');
    expect(warnings).toHaveLength(2);
    expect(warnings).toContainEqual(
      expect.stringMatching(/^the environment: LOG_LEVEL: expected DEBUG, INFO, .*"verbose"; it is ignored$/),
    );
    expect(refusal({ env: { JOB: 'my job' } })).toContain('the environment: JOB');
    expect(refusal({ cli: { LOG_LEVEL: 'verbose' } })).toContain('the command line: LOG_LEVEL');
  });

  it('what Kubernetes calls REDIS_PORT beside a service of the name redis is not taken for it', () => {
    expect(load({ env: { REDIS_PORT: 'tcp://10.96.0.1:6379' } }).settings.REDIS_PORT).toBe(6379);
    expect(load({ env: { REDIS_PORT: '6380' } }).settings.REDIS_PORT).toBe(6380);
  });
});

describe('values', () => {
  it('texts are typed by the schema: lists with commas or JSON, maps as JSON, words for true and false', () => {
    const { settings } = load({
      env: { SPIDER_MODULES: 'a, b', ROBOTSTXT_OBEY: 'False', DOWNLOAD_DELAY: '0.25' },
      cli: {
        RETRY_HTTP_CODES: '[500, 429]',
        ITEM_PIPELINES: '{"./clean.ts": 100}',
        JOB: '2024',
        RETRY_TIMES: '3',
      },
    });
    expect(settings).toMatchObject({
      SPIDER_MODULES: [path.join(dir, 'a'), path.join(dir, 'b')],
      ROBOTSTXT_OBEY: false,
      DOWNLOAD_DELAY: 0.25,
      RETRY_HTTP_CODES: [500, 429],
      ITEM_PIPELINES: { './clean.ts': 100 },
      JOB: '2024',
      RETRY_TIMES: 3,
    });
    expect(load({ cli: { RETRY_HTTP_CODES: '500,502' } }).settings.RETRY_HTTP_CODES).toEqual([500, 502]);
  });

  it("Scrapy's and pino's names of levels are taken in any case", () => {
    const level = (text: string) => load({ cli: { LOG_LEVEL: text } }).settings.LOG_LEVEL;
    expect(['WARNING', 'critical', 'Info', 'TRACE'].map(level)).toEqual(['warn', 'fatal', 'info', 'trace']);
  });

  it('dotted Python paths and the old aliases of queues are taken', () => {
    const queue = (text: string) =>
      load({ cli: { SCHEDULER_QUEUE_CLASS: text } }).settings.SCHEDULER_QUEUE_CLASS;
    expect(queue('scrapy_redis.queue.PriorityQueue')).toBe('PriorityQueue');
    expect(queue('scrapy_redis.queue.SpiderStack')).toBe('LifoQueue');
    expect(queue('SpiderQueue')).toBe('FifoQueue');
    expect(refusal({ cli: { SCHEDULER_QUEUE_CLASS: 'mine.queue.PriorityQueue' } })).toContain(
      'PriorityQueue, FifoQueue',
    );
  });
});

describe('refusals', () => {
  it('an unknown name is refused with file, line and the nearest name', () => {
    write('RETRY_TIMES: 2\nCONCURENT_REQUESTS: 3\n');
    expect(refusal()).toBe(
      'crawlnode.yaml:2:1: unknown setting CONCURENT_REQUESTS; did you mean CONCURRENT_REQUESTS?\n' +
        'a setting of your own is declared in a module that SETTINGS_SCHEMA names (docs/guide/own-settings.md)',
    );
  });

  it("a name of Scrapy's that is not known here is refused with what serves instead", () => {
    write('FEED_URI: items.csv\nDOWNLOADER_MIDDLEWARES_BASE: {}\nTWISTED_REACTOR: x\nLOG_ENABLED: false\n');
    expect(refusal().split('\n')).toEqual([
      'crawlnode.yaml:1:1: unknown setting FEED_URI of Scrapy: name files in FEEDS, or with -o FILE',
      'crawlnode.yaml:2:1: unknown setting DOWNLOADER_MIDDLEWARES_BASE of Scrapy: the built-in middleware stays at its number; DOWNLOADER_MIDDLEWARES or SPIDER_MIDDLEWARES switches it off',
      'crawlnode.yaml:3:1: unknown setting TWISTED_REACTOR of Scrapy: delete it',
      'crawlnode.yaml:4:1: unknown setting LOG_ENABLED of Scrapy: LOG_LEVEL: SILENT keeps the log quiet',
    ]);
    expect(settingNames.filter((name) => unknownSettingAdvice(name, []) !== '')).toEqual([]);
  });

  it('a setting of an earlier version is refused with what serves instead, in the environment too', () => {
    write('SCHEDULER_PARTITIONS: 4\n');
    const lines = refusal({ env: { REDIS_PARTITION_URLS: 'redis://a,redis://b' } }).split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(line).toMatch(/which is gone: a crawl is in one store\. .*several crawls/);
    expect(lines[0]).toMatch(/^crawlnode\.yaml:1:1: unknown setting SCHEDULER_PARTITIONS,/);
    expect(lines[1]).toMatch(/^the environment: unknown setting REDIS_PARTITION_URLS,/);
  });

  it('a wrong type names layer, key, value and reason', () => {
    write('CONCURRENT_REQUESTS: many\n');
    expect(refusal()).toBe(
      'crawlnode.yaml:1:1: CONCURRENT_REQUESTS: expected a whole number from 1 to 10000, got "many"',
    );
    expect(refusal({ configFile: undefined, env: { DOWNLOAD_DELAY: '0x10' } })).toContain(
      'the environment: DOWNLOAD_DELAY',
    );
    write('');
    expect(refusal({ cli: { ROBOTSTXT_OBEY: 'maybe' } })).toBe(
      'the command line: ROBOTSTXT_OBEY: expected true or false, got "maybe"',
    );
    expect(refusal({ cli: { FEEDS: '{"a.txt": {"format": "yaml"}}' } })).toContain('at a.txt.format');
    expect(refusal({ cli: { FEEDS: '{"out/b.jsonl": {}, "./out/b.jsonl": {}}' } })).toMatch(
      /FEEDS names \/.*out\/b\.jsonl twice/,
    );
    expect(refusal({ cli: { FEEDS: '{oops' } })).toContain('is not valid JSON');
    expect(
      refusal({ spider: { settings: { RETRY_TIMES: '2' }, where: 'spider a (spiders/a.ts)' } }),
    ).toContain('spider a (spiders/a.ts): RETRY_TIMES: expected a whole number');
  });

  it('everything wrong is told at once', () => {
    write('NOPE: 1\nRETRY_TIMES: -1\n');
    const lines = refusal({ cli: { JOB: 'a/b' } }).split('\n');
    expect(lines.map((line) => /(NOPE|RETRY_TIMES|JOB|SETTINGS_SCHEMA)/.exec(line)?.[0])).toEqual([
      ...['NOPE', 'RETRY_TIMES', 'JOB', 'SETTINGS_SCHEMA'],
    ]);
  });

  it('YAML that does not parse is refused with its place', () => {
    write('A: [1, 2\nB: 3\n');
    expect(refusal()).toMatch(/^crawlnode\.yaml:\d+:\d+: not valid YAML: /);
    write('RETRY_TIMES: 1\nRETRY_TIMES: 2\n');
    expect(refusal()).toMatch(/^crawlnode\.yaml:2:1: .*unique/i);
    write('- a\n');
    expect(refusal()).toContain('expected a map of settings');
    write('REDIS_PARAMS: !!python/object:os.system x\n');
    expect(refusal()).toContain('not valid YAML');
  });

  it('a file that is not there, or a folder, is refused by name', () => {
    expect(refusal({ configFile: 'no.yaml' })).toContain('cannot read the settings file no.yaml');
    expect(refusal({ configFile: '.' })).toContain('cannot read the settings file');
  });

  it('an alias bomb is refused, and __proto__ does nothing', () => {
    const levels = 'bcdefghi'.split('').map((name, at) => {
      const before = 'abcdefgh'[at];
      return `  ${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
    });
    write(`REDIS_PARAMS:\n  a: &a [1,2,3,4,5,6,7,8,9]\n${levels.join('\n')}\n`);
    expect(refusal()).toContain('REDIS_PARAMS');
    write('REDIS_PARAMS:\n  __proto__: { polluted: true }\n');
    expect(load().settings.REDIS_PARAMS).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('polluted');
    write('__proto__: { polluted: true }\n');
    expect(refusal()).toContain('unknown setting __proto__');
  });

  it('an alias within what it stands for is refused with its place', () => {
    write('RETRY_TIMES: 2\nDOWNLOAD_SLOTS: &slots\n  a.example: *slots\n');
    expect(refusal()).toBe('crawlnode.yaml:2:1: DOWNLOAD_SLOTS: an alias refers to what contains it');
    write('FEEDS: &feeds [1, [*feeds]]\n');
    expect(refusal()).toContain('crawlnode.yaml:1:1: FEEDS: an alias refers to what contains it');
  });

  it.each([
    '['.repeat(500_000),
    `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
    '- '.repeat(500_000),
    '{a: '.repeat(200_000),
  ])('nesting without an end is refused with its place', (value) => {
    write(`RETRY_TIMES: 2\nDOWNLOAD_SLOTS:\n  ${value}`);
    expect(refusal()).toMatch(
      /^crawlnode\.yaml:3:\d+: not valid settings: lists and maps within each other more than 100 deep$/,
    );
  });

  it('settings that contradict each other are refused', () => {
    const cli = { REDIS_START_URLS_AS_SET: 'true', REDIS_START_URLS_AS_ZSET: 'true' };
    expect(refusal({ cli })).toContain('REDIS_START_URLS_AS_ZSET: it contradicts REDIS_START_URLS_AS_SET');
    expect(refusal({ cli: { NODE_TIMEOUT: '5' } })).toContain('two heartbeats');
  });
});

it('a line without the blank after its colon is refused with that hint', () => {
  for (const text of ['RETRY_TIMES:3\n', 'LOG_LEVEL: INFO\nRETRY_TIMES:3\nUSER_AGENT: me\n']) {
    write(text);
    expect(refusal()).toMatch(/^crawlnode\.yaml:.*; a value needs a colon and a blank before it$/);
  }
});

describe('variables of the environment that are no settings', () => {
  const warnings = (env: Record<string, string>) => load({ env }).warnings;

  it('are warned about where they are misspelt, since each node would crawl alone without its REDIS_URL', () => {
    expect(warnings({ REDIS_URI: 'redis://127.0.0.1' })).toEqual([
      'the environment: REDIS_URI is not a setting and has no effect; did you mean REDIS_URL?',
    ]);
    expect(warnings({ DOWNLOAD_DELY: '1' })).toEqual([
      expect.stringContaining('did you mean DOWNLOAD_DELAY?'),
    ]);
    for (const [name, meant] of [
      ['CONCURENT_REQUESTS', 'CONCURRENT_REQUESTS'],
      ['DONWLOAD_DELAY', 'DOWNLOAD_DELAY'],
      ['CONCURENT_REQUEST_PER_DOMAIN', 'CONCURRENT_REQUESTS_PER_DOMAIN'],
      ['ROBOTTXT_OBEY', 'ROBOTSTXT_OBEY'],
      ['REDDIS_URL', 'REDIS_URL'],
    ] as const)
      expect(warnings({ [name]: '1' })).toEqual([expect.stringContaining(`did you mean ${meant}?`)]);
    expect(warnings({ CRAWLNODE_REDIS_URL: 'redis://127.0.0.1' })).toEqual([
      expect.stringContaining('CRAWLNODE_REDIS_URL has no effect: set REDIS_URL'),
    ]);
    expect(warnings({ REDIS_PASSWORD_FILE: '/run/secrets/redis' })).toEqual([
      expect.stringContaining('REDIS_PASSWORD_FILE has no effect: set REDIS_PASSWORD'),
    ]);
  });

  it('are left alone in the environments of CI systems, containers, shells and other programs', () => {
    const names = readFileSync(
      new URL('../../fixtures/environment-names.txt', import.meta.url),
      'utf8',
    ).split(/\s+/);
    expect(names.length).toBeGreaterThan(300);
    expect(warnings(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual([]);
  });

  it('are left alone where they belong to others, as those that Kubernetes sets for a service named redis', () => {
    const kubernetes = [
      'REDIS_PORT_6379_TCP',
      'REDIS_PORT_6379_TCP_ADDR',
      'REDIS_SERVICE_HOST',
      'REDIS_SERVICE_PORT',
    ];
    const others = ['HTTP_PROXY', 'NO_PROXY', 'NODE_ENV', 'NODE_OPTIONS', 'AWS_PROFILE', 'AWS_SESSION_TOKEN'];
    const env = Object.fromEntries([...kubernetes, ...others, 'LOG_FILE'].map((name) => [name, 'x']));
    expect(warnings(env)).toEqual([]);
  });
});

describe('notices', () => {
  it('tell of settings of a feature that is off by default, unless its switch is given', () => {
    const of = (cli: Record<string, string>) => load({ cli }).notices;
    expect(of({ HTTPCACHE_IGNORE_MISSING: 'true' })).toEqual([
      'the command line: HTTPCACHE_IGNORE_MISSING has no effect without HTTPCACHE_ENABLED: true',
    ]);
    expect(of({ HTTPCACHE_DIR: '~/cache', HTTPCACHE_ENABLED: 'false' })).toEqual([]);
  });

  it('are not needed for ~, which is the home folder', () => {
    const { settings } = load({ cli: { LOG_FILE: '~/crawl.log', FEEDS: '{"~/o.csv": {}}' } });
    expect(settings.LOG_FILE).toBe(`${homedir()}/crawl.log`);
    expect(Object.keys(settings.FEEDS)).toEqual([`${homedir()}/o.csv`]);
  });

  it('name options of REDIS_PARAMS that the client does not have', () => {
    const { notices } = load({
      cli: { REDIS_PARAMS: '{"conectTimeout": 5, "family": 6, "foo": 1, "ssl": true}' },
    });
    expect(notices).toEqual([
      'the command line: REDIS_PARAMS: conectTimeout is not an option of ioredis that is known here; did you mean connectTimeout?',
      'the command line: REDIS_PARAMS: foo is not an option of ioredis that is known here',
    ]);
  });

  it('a setting that is ignored says so when it is set', () => {
    const { notices } = load({ cli: { SCHEDULER_IDLE_BEFORE_CLOSE: '10', COOKIES_ENABLED: 'true' } });
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/SCHEDULER_IDLE_BEFORE_CLOSE has no effect: /);
  });

  it('a setting of another class of dupefilter says so when it is set', () => {
    const of = (cli: Record<string, string>) => load({ cli }).notices;
    const notice =
      'DUPEFILTER_EXPIRE has no effect with DUPEFILTER_CLASS RFPDupeFilter: only TimedRFPDupeFilter uses it';
    expect(of({ DUPEFILTER_EXPIRE: '60' })).toEqual([expect.stringContaining(notice)]);
    expect(of({ DUPEFILTER_EXPIRE: '60', DUPEFILTER_CLASS: 'TimedRFPDupeFilter' })).toEqual([]);
    expect(of({ DUPEFILTER_CLASS: 'TimedRFPDupeFilter' })).toEqual([
      expect.stringContaining('TimedRFPDupeFilter forgets nothing without DUPEFILTER_EXPIRE'),
    ]);
    expect(of({ DUPEFILTER_CAPACITY: '60', DUPEFILTER_CLASS: 'BloomDupeFilter' })).toEqual([]);
  });
});

describe('secrets', () => {
  it('are masked in values, and in any text once they are known', () => {
    expect(maskSetting('REDIS_PASSWORD', 'hunter2')).toBe('***');
    expect(maskSetting('REDIS_URL', 'redis://me:p/w?@h:6379')).toBe('redis://me:***@h:6379');
    expect(maskSetting('REDIS_PARAMS', { password: 'x', tls: { passphrase: 'y' }, db: 1 })).toEqual({
      password: '***',
      tls: { passphrase: '***' },
      db: 1,
    });
    expect(maskUrls('GET https://user:pass@host/a failed')).toBe('GET https://***@host/a failed');
    expect(maskUrls('http://host:80/a?mail=b@c')).toBe('http://host:80/a?mail=b@c');
    const filter = secretFilter(
      load({ cli: { REDIS_PASSWORD: 'hun"ter2', REDIS_URL: 'redis://:s%40cret@h' } }).settings,
    );
    expect(filter('hun"ter2 s@cret s%40cret')).toBe('*** *** ***');
    expect(filter(JSON.stringify({ a: 'hun"ter2' }))).toBe('{"a":"***"}');
  });

  it('never show in a refusal', () => {
    expect(refusal({ cli: { REDIS_URL: 'http://u:secret@h' } })).not.toContain('secret');
    write('REDIS_PASSWORD: [hunter2]\n');
    expect(refusal()).not.toContain('hunter2');
  });
});

describe('documentation', () => {
  it('config/crawlnode.yaml is what the schema says (vitest -u writes it anew)', async () => {
    await expect(documentSettings()).toMatchFileSnapshot('../../../config/crawlnode.yaml');
  });

  it('the file loads as it is, and with every default taken out of its comment', () => {
    write(documentSettings());
    expect(Object.values(load().sources).every((source) => source === 'default')).toBe(true);
    const uncommented = documentSettings().replace(/^#(?=[A-Z ]+[^ ])(?! )|^#(?= {2}\S)/gm, '');
    expect(Object.keys(parse(uncommented)).sort()).toEqual([...settingNames].sort());
    write(uncommented);
    expect(load().settings).toEqual(
      loadSettings({ cwd: dir, env: {}, cli: {}, configFile: 'crawlnode.yaml' }).settings,
    );
    for (const [name, value] of Object.entries(parse(uncommented)))
      expect(value).toEqual(definitionOf(name)?.default);
  });

  it('defineSettings gives back what it gets', () => {
    const settings = defineSettings({ DOWNLOAD_DELAY: 0.5, ITEM_PIPELINES: { RedisPipeline: 300 } });
    expect(load({ spider: { settings, where: 'a' } }).settings.DOWNLOAD_DELAY).toBe(0.5);
  });
});

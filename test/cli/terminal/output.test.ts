/** What is printed is safe for a terminal, and fits it. */
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { readableLine } from '../../../src/cli/log/readable-line.js';
import { alignColumns } from '../../../src/cli/terminal/align-columns.js';
import { oneLine, printable, printableJson } from '../../../src/cli/terminal/printable.js';
import { wrapped } from '../../../src/cli/terminal/reflow.js';
import { rowPrinter } from '../../../src/cli/terminal/result-rows.js';
import { combine, difference } from '../../../src/crawler/run/crawl-totals.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';

describe('text for a terminal', () => {
  it('other rows of a table are not padded to a name of any length', () => {
    const [, short] = alignColumns([
      ['x'.repeat(1_000_000), '1'],
      ['y', '2'],
    ]);
    expect(short!.length).toBeLessThan(300);
  });

  it('escape sequences of crawled text show instead of acting', () => {
    expect(printable('a\x1b[2Jb\x9b1mc\rd\te\nf')).toBe('a\\x1b[2Jb\\x9b1mc\\x0dd\te\nf');
    expect(oneLine('two\n  lines')).toBe('two lines');
  });

  it('a line of the log becomes one short line: clock, level, message, other fields', () => {
    const line = {
      level: 'warn',
      time: '2024-01-02T03:04:05.678Z',
      node: 'n',
      spider: 's',
      job: null,
      msg: 'a\x1b[0m\nb',
      n: { x: 1 },
    };
    const shown = readableLine(false)(`${JSON.stringify(line)}\n`);
    expect(shown).toMatch(/^\d\d:\d\d:05 WARN {2}a\\x1b\[0m b {2}node=n {2}n=\{"x":1\}\n$/);
    expect(readableLine(true)(`${JSON.stringify(line)}\n`)).toContain('\x1b[33mWARN \x1b[0m');
  });

  it('a line of the log breaks between words on a narrow terminal', () => {
    const line = {
      level: 'info',
      time: '2024-01-02T03:04:05.678Z',
      msg: 'one sentence of several words',
      url: 'http://a/',
    };
    const shown = readableLine(true, { columns: () => 40 })(`${JSON.stringify(line)}\n`);
    expect(shown.slice(9)).toBe(
      ['INFO  one sentence of several', 'words  url=http://a/', '']
        .join(`\n${' '.repeat(15)}`)
        .trimEnd()
        .concat('\n'),
    );
  });

  it('a broken line of a result is indented, whatever its colours', () => {
    const terminal = { isTTY: true, columns: 20 };
    expect(wrapped('\x1b[32mok\x1b[0m       one two three', terminal, ' '.repeat(9))).toBe(
      '\x1b[32mok\x1b[0m       one two\n         three',
    );
  });

  it('the last column of a table has its own lines where rows are wider than the terminal', () => {
    const rows = (columns: number) => {
      const lines: string[] = [];
      const stdout = { isTTY: true, columns, write: (text: string) => lines.push(text) };
      rowPrinter({ stdout, mask: (text: string) => text } as unknown as Context, ['AT', 'URL'])([
        ['12:00', 'http://a.example/'],
      ]);
      return lines.join('');
    };
    expect(rows(30)).toBe('AT     URL\n12:00  http://a.example/\n');
    expect(rows(20)).toBe('AT   \n  URL\n12:00\n  http://a.example/\n');
  });

  it('notices, errors and the summary of a crawl break between words on a terminal, and nowhere in a pipe', async () => {
    const site = await startSite({
      pages: 2,
      handler: (_, response) => response.writeHead(404).end() !== undefined,
    });
    const project = await createProject({
      settings: { ROBOTSTXT_OBEY: false },
      files: {
        'spiders/news.ts': `import { Spider } from 'crawlnode';
          export default class extends Spider { name = 'news'; startUrls = ['${site.origin}/']; parse() {} }`,
      },
    });
    const run = (args: readonly string[], isTTY: boolean) =>
      runHere(args, { cwd: project.dir, isTTY, columns: 50 });
    const crawl = ['crawl', 'news', '--exit-when-done', '-L', 'error'];
    const wrong = ['crawl', 'news', '-s', 'DOWNLOAD_DELAY=a delay of many words that is no number at all'];
    for (const args of [crawl, ['failed', 'news', 'list', '--ignored', '--reason', 'timeout'], wrong]) {
      const [wide, narrow] = [await run(args, false), await run(args, true)];
      const text = ({ stdout, stderr }: typeof wide) => `${stdout}${stderr}`;
      const isLong = (line: string) => line.length > 50 && line.trim().includes(' ');
      expect(text(narrow).split('\n').filter(isLong)).toEqual([]);
      expect(text(wide).split('\n').some(isLong)).toBe(true);
    }
    await project.remove();
    await site.close();
  });

  it('what is no line of the log passes as it is', () => {
    expect(readableLine(true)('TypeError: x\x1b\n')).toBe('TypeError: x\\x1b\n');
    expect(readableLine(true)('{"a": 1}\n')).toBe('{"a": 1}\n');
  });
});

describe('rows of results', () => {
  const print = (isTTY: boolean, ...pages: string[][][]) => {
    const written: string[] = [];
    const stdout = {
      write: (text: string | Uint8Array) => void written.push(String(text)),
      isTTY,
      columns: 80,
      rows: 24,
    };
    const printRows = rowPrinter({ stdout, mask: (each: string) => each } as Context, ['ID', 'URL']);
    for (const page of pages) printRows(page);
    return written.join('');
  };

  it('on a terminal they are aligned under a header, widened by later pages, a remark below', () => {
    const pages = [
      [['1', 'http://a/', '']],
      [['1000', 'http://b/', 'why\n it failed']],
      [['2', 'http://c/']],
    ];
    expect(print(true, ...pages)).toBe(
      ['ID  URL', '1   http://a/', '1000  http://b/', '    why it failed', '2     http://c/', ''].join('\n'),
    );
  });

  it('in a pipe they are separated by tabs, without a header, as long as they are', () => {
    expect(print(false, [['1', 'a\tb\nc\x1b[1m']])).toBe('1\ta b c\\x1b[1m\n');
  });

  it('JSON carries no escape sequence either, and says the same', () => {
    const value = { text: 'a\x1b[2J\x9b2J\x7f' };
    expect(printableJson(value)).not.toMatch(/[\x1b\x7f-\x9f]/);
    expect(JSON.parse(printableJson(value))).toEqual(value);
  });
});

describe('the summary of several nodes', () => {
  const result = {
    reason: 'finished',
    exitCode: 0 as const,
    hasWaited: false,
    message: null,
    deadEnds: [],
    unusedSlots: [],
    slowestDomain: null,
    customStats: {},
    pages: 2,
    failed: 1,
    items: 3,
    elapsedMs: 5,
    crawl: null,
    run: null,
  };

  it('adds up, and takes reason and message from the one that ended worst', () => {
    const worst = { ...result, reason: 'frontier_gone', exitCode: 1 as const, message: 'gone' };
    expect(combine([result, worst], 9)).toEqual({ ...worst, pages: 4, failed: 2, items: 6, elapsedMs: 9 });
    expect(combine([result, { ...result, reason: 'shutdown' }], 9).reason).toBe('shutdown');
    const late = { ...result, reason: 'closespider_pagecount', message: 'the same budget closed the run' };
    expect(combine([late, { ...late, message: null }], 9)).toMatchObject({ message: null });
    expect(combine([], 9)).toMatchObject({ reason: 'died', exitCode: 1, pages: 0 });
  });

  it('the difference of two looks at the store is null when the crawl was cleared in between', () => {
    expect(difference({ pages: 1, failed: 0, items: 5 }, { pages: 3, failed: 1, items: 9 })).toEqual({
      ...{ pages: 2, failed: 1, items: 4 },
    });
    expect(difference({ pages: 3, failed: 0, items: 5 }, { pages: 0, failed: 0, items: 0 })).toBeNull();
  });
});

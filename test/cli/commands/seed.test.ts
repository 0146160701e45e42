/** Seeds from tables, and in numbers, on both engines. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { seedLine } from '../../../src/cli/seed/seed-progress.js';
import { pushSeeds } from '../../../src/crawler/seeds/push-seeds.js';
import type { SeedText } from '../../../src/crawler/seeds/seed-text.js';
import type { FrontierRequest } from '../../../src/frontier/frontier.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable, startCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { waitFor } from '../../helpers/wait-for.js';

describe.each(engines)('seed on the %s engine', (engine) => {
  const here = projectOn(engine);
  const run = (args: readonly string[], input: string | Buffer = '') =>
    runHere(args, { cwd: here.project.dir, input });

  it('takes the URLs of a CSV column, quotes and line breaks in others notwithstanding', async () => {
    await here.project.write(
      'shop.csv',
      '\ufeffname,link\r\n"a, ""b""\nc",http://a.example/1\r\n\r\nd, http://a.example/2 \r\ne\r\nf,nonsense\r\n',
    );
    const { code, stdout, stderr } = await run(['seed', 'news', '--file', 'shop.csv', '--column', 'link']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'news: 2 accepted, 0 duplicate, 2 bad\n' });
    expect(stderr).toContain('shop.csv: row 4: bad seed: it is empty');
    expect(stderr).toMatch(/shop\.csv: row 5: bad seed: .*nonsense/);
  });

  it('reads every file that is named, each by its kind', async () => {
    await here.project.write('a.txt', 'http://a.example/1\n');
    await here.project.write('b.csv', 'name,url\nx,http://a.example/2\n');
    const { stdout } = await run(['seed', 'news', '--file', 'a.txt', '--file', 'b.csv']);
    expect(stdout).toBe('news: 2 accepted, 0 duplicate, 0 bad\n');
    writeFileSync(`${here.project.dir}/utf-16.txt`, Buffer.from('\ufeffhttp://a.example/3\n', 'utf16le'));
    const utf16 = await run(['seed', 'news', '--file', 'utf-16.txt']);
    expect(utf16).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('utf-16.txt is UTF-16: save it'),
    });
    const missing = await run(['seed', 'news', '--file', 'none.txt', '--file', 'a.txt']);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('none.txt') });
  });

  it('takes a seed a line, however lines end and whatever Unicode calls a separator', async () => {
    const meta = { text: 'one\u2028two\u2029three\u0085four\vfive' };
    const seeds = [JSON.stringify({ url: 'https://a.example/1', meta }), 'https://a.example/2'];
    const input = `\uFEFF${seeds.join('\r\n')}\rhttps://a.example/3\n\nhttps://a.example/4`;
    const { stdout } = await run(['seed', 'news', '--stdin', '--json'], input);
    expect(JSON.parse(stdout)).toEqual({ accepted: 4, duplicates: 0, bad: 0 });
  });

  it('takes the URLs of a field of JSON lines, from stdin too', async () => {
    const input = '{"link":"http://a.example/1","n":1}\n\nnonsense\n{"other":1}\n{"link":7}\n';
    const args = ['seed', 'news', '--stdin', '--column', 'link', '--format', 'jsonl', '--json'];
    expect((await run(args, input)).stdout).toBe('{"accepted":1,"duplicates":0,"bad":3}\n');
  });

  it('reads gzip by what it is, whatever its name, from stdin too', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => `http://a.example/${n}`).join('\n');
    const tables = `{"link":"http://b.example/1"}\n{"link":"http://b.example/2"}\n`;
    writeFileSync(here.project.path('urls.txt'), gzipSync(lines));
    writeFileSync(here.project.path('links.jsonl.gz'), gzipSync(tables));
    writeFileSync(here.project.path('shop.csv.GZ'), gzipSync('name,url\na,http://c.example/\n'));
    expect((await run(['seed', 'news', '--file', 'urls.txt'])).stdout).toContain('3,000 accepted');
    expect((await run(['seed', 'news', '--stdin'], gzipSync(lines))).stdout).toContain('3,000 duplicate');
    const columned = await run(['seed', 'news', '--file', 'links.jsonl.gz', '--column', 'link']);
    expect(columned.stdout).toContain('2 accepted, 0 duplicate, 0 bad');
    expect((await run(['seed', 'news', '--file', 'shop.csv.GZ'])).stdout).toContain('1 accepted');
  });

  it('what is packed otherwise, cut off or empty is exit 2 and says so', async () => {
    const whole = gzipSync('http://a.example/\n'.repeat(9_000));
    writeFileSync(here.project.path('cut.gz'), whole.subarray(0, whole.length - 20));
    writeFileSync(here.project.path('urls.zst'), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04]));
    for (const [args, said] of [
      [['--file', 'cut.gz'], 'cut.gz: unexpected end of file'],
      [['--file', 'urls.zst'], 'compressed with zstd: decompress it first'],
      [[], 'no seeds: give URLs'],
    ] as const) {
      expect(await run(['seed', 'news', ...args])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(said),
      });
    }
    expect(await run(['forget', 'news', '--file', 'urls.zst'])).toMatchObject({ code: 2 });
  });

  it('a line, a record or a field that is longer than a seed may be is not read to its end', async () => {
    const long = 'x'.repeat(3_000_000);
    const lines = `http://a.example/1\n${long}\nhttp://a.example/2\n`;
    const { code, stdout, stderr } = await run(['seed', 'news', '--stdin'], lines);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'news: 2 accepted, 0 duplicate, 1 bad\n' });
    expect(stderr).toContain('stdin:2: the line is longer than 1 MB');
    const table = await run(
      ['seed', 'news', '--stdin', '--format', 'csv', '--column', 'url'],
      `url\n"${long}`,
    );
    expect(table).toMatchObject({ code: 2, stderr: expect.stringContaining('stdin is not valid CSV') });
    const fields = ['seed', 'news', '--stdin', '--format', 'jsonl', '--column', 'url'];
    const records = await run(fields, `{"url":"${long}"}\n{"url":"http://a.example/3"}\n`);
    expect(records.stderr).toContain('stdin:1: the line is longer than 1 MB');
    expect(records.stdout).toContain('1 accepted');
  });

  it('a file without an end is refused once a line of it is no seed by far, and a pipe is read until it is closed', async () => {
    const zeros = await run(['seed', 'news', '--file', '/dev/zero']);
    expect(zeros).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot read /dev/zero: a line has more than 67,108,864 characters'),
    });
    const sitemap = await run(['seed', 'news', '--sitemap', '/dev/zero']);
    expect(sitemap).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/dev/zero: it is larger than'),
    });
    const pipe = here.project.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = run(['seed', 'news', '--file', 'pipe']);
    // Opening it waits for the reader.
    await writeFile(pipe, 'http://a.example/1\n');
    expect(await reading).toMatchObject({
      stdout: 'news: 1 accepted, 0 duplicate, 0 bad\n',
      stderr: expect.stringContaining('pipe is a named pipe: waiting for a program that writes to it'),
    });
  });

  it('without a source it ends at once, whoever holds stdin open', async () => {
    const child = spawn(process.execPath, [executable, 'seed', 'news'], { cwd: here.project.dir });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    child.stdin.end();
    expect({ said, code }).toEqual({ said: expect.stringContaining('no seeds: give URLs'), code: 2 });
  });

  it('a table that does not fit is exit 2 with what does', async () => {
    await here.project.write('shop.csv', 'name,address\na,http://a.example/\n');
    await here.project.write('broken.csv', 'link\n"http://a.example/\n');
    await here.project.write('list.txt', 'http://a.example/\n');
    for (const [args, said] of [
      [['--file', 'shop.csv'], '--column NAME'],
      [['--file', 'shop.csv', '--column', 'url'], 'its first row has name, address'],
      [['--file', 'broken.csv', '--column', 'link'], 'broken.csv is not valid CSV'],
      [['--file', 'list.txt', '--column', 'link'], '--format csv or jsonl'],
      [['--file', 'list.txt', '--format', 'xml'], 'expected csv or jsonl'],
    ] as const) {
      expect(await run(['seed', 'news', ...args])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(said),
      });
    }
  });

  it('finds the column of URLs in a CSV file by itself, with and without a header', async () => {
    await here.project.write('named.csv', 'Name,LINK,url\na,http://a.example/no,http://a.example/1\n');
    await here.project.write('bare.csv', '7,http://a.example/2\n8,http://a.example/3\n');
    for (const [file, accepted, column] of [
      ['named.csv', 1, '"url"'],
      ['bare.csv', 2, 'number 2'],
    ] as const) {
      const { stdout, stderr } = await run(['seed', 'news', '--file', file]);
      expect(stdout).toBe(`news: ${accepted} accepted, 0 duplicate, 0 bad\n`);
      expect(stderr).toContain(`${file}: reading URLs from its column ${column}`);
    }
  });

  it('prints what nodes have set aside as bad', async () => {
    await here.look(async (frontier) => {
      await frontier.appendSeeds(['one', '\u001b[31mtwo']);
      await frontier.intake((await frontier.peekSeeds(2)).map((seed) => ({ seed, bad: 'no URL' })));
    });
    const { code, stdout } = await run(['seed', 'news', '--list-bad']);
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001b');
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found).toMatchObject([{ seed: 'one', reason: 'no URL' }, { seed: '\u001b[31mtwo' }]);
  });

  it('interrupted, it says what is in, and may be given again', async () => {
    const urls = Array.from({ length: 60_000 }, (_, n) => `http://a.example/${n}`);
    await here.project.write('urls.txt', urls.join('\n'));
    const args = ['seed', 'news', '--file', 'urls.txt', '--json'];
    const seeding = startCli(args, { cwd: here.project.dir });
    const accepted = await here.look(async (frontier) => {
      await waitFor(async () => (await frontier.snapshot()).pending > 3_000);
      seeding.kill('SIGINT');
      const { code, stdout, stderr } = await seeding.wait();
      expect({ code, stderr }).toMatchObject({ code: 130, stderr: expect.stringContaining('interrupted') });
      expect((await frontier.snapshot()).pending).toBe(JSON.parse(stdout).accepted);
      return JSON.parse(stdout).accepted;
    });
    expect(accepted).toBeLessThan(60_000);
    const again = JSON.parse((await run(args)).stdout);
    expect(again).toEqual({ accepted: 60_000 - accepted, duplicates: accepted, bad: 0 });
  });

  it('where the input breaks off in the middle, it says what is in beside what is wrong', async () => {
    const rows = Array.from({ length: 4_500 }, (_, n) => `http://a.example/${n}`);
    await here.project.write('shop.csv', `url\n${rows.join('\n')}\n"x" y\n`);
    const args = ['seed', 'news', '--file', 'shop.csv', '--column', 'url', '--json'];
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    const said = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(said).toMatchObject([
      {
        level: 'info',
        msg: expect.stringMatching(/the seeds counted here are stored; repeat the command to go on/),
      },
      { level: 'fatal', exitCode: 2, msg: expect.stringContaining('is not valid CSV') },
    ]);
    const { accepted } = JSON.parse(stdout);
    expect(accepted).toBeGreaterThan(0);
    expect(await here.look(async (frontier) => (await frontier.snapshot()).pending)).toBe(accepted);
    const raw = await run([...args, '--to-start-urls']);
    expect(raw).toMatchObject({ code: 2, stderr: expect.stringContaining('give it only the rest') });
  });

  it('a dash for a file is told how stdin is read', async () => {
    expect(await run(['seed', 'news', '--file', '-'])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('--stdin') },
    });
  });

  it('many seeds are all counted, and keep their order', async () => {
    const urls = Array.from({ length: 5_500 }, (_, n) => `http://a.example/${n % 5_000}`);
    const { stdout } = await run(['seed', 'news', '--stdin'], urls.join('\n'));
    expect(stdout).toBe('news: 5,000 accepted, 500 duplicate, 0 bad\n');
    const { pending } = JSON.parse((await run(['stats', 'news', '--json'])).stdout);
    expect(pending).toBe(5_000);
  });
});

describe('pushing seeds', () => {
  const lines = async function* (count: number) {
    for (let n = 0; n < count; n++) yield { text: String(n), where: `line ${n}` };
  };
  const convert = async ({ text }: SeedText) => [{ id: text, record: '{}' } as FrontierRequest];
  const { signal: stop } = new AbortController();

  it('sends batches in order, the next while one is on its way, and never many', async () => {
    const sent: number[] = [];
    let flying = 0;
    let most = 0;
    const push = async (batch: readonly FrontierRequest[]) => {
      sent.push(...batch.map(({ id }) => Number(id)));
      flying += 1;
      most = Math.max(most, flying);
      await new Promise(setImmediate);
      flying -= 1;
      return { accepted: batch.length, duplicates: 0 };
    };
    const counts = { accepted: 0, duplicates: 0, bad: 0 };
    await pushSeeds({ push }, lines(12_345), counts, { kind: 'seeds', convert, stop, onBad: () => {} });
    expect(sent).toEqual(Array.from({ length: 12_345 }, (_, n) => n));
    expect(counts.accepted).toBe(12_345);
    expect([most > 1, most < 10]).toEqual([true, true]);
  });

  it('sends no batch of more than 8 MB, so that large seeds do not overwhelm the store', async () => {
    const sizes: number[] = [];
    const push = async (batch: readonly FrontierRequest[]) => {
      sizes.push(batch.length);
      return { accepted: batch.length, duplicates: 0 };
    };
    const record = 'x'.repeat(1024 * 1024);
    const large = async ({ text }: SeedText) => [{ id: text, record } as FrontierRequest];
    const counts = { accepted: 0, duplicates: 0, bad: 0 };
    await pushSeeds({ push }, lines(20), counts, { kind: 'seeds', convert: large, stop, onBad: () => {} });
    expect(sizes).toEqual([8, 8, 4]);
  });

  it('stops with the first error of the store, once nothing is on its way', async () => {
    let calls = 0;
    let answered = 0;
    const push = async () => {
      calls += 1;
      const isThird = calls === 3;
      await new Promise(setImmediate);
      answered += 1;
      if (isThird) throw new Error('the store is full');
      return { accepted: 1_000, duplicates: 0 };
    };
    const counts = { accepted: 0, duplicates: 0, bad: 0 };
    const pushing = pushSeeds({ push }, lines(100_000), counts, {
      kind: 'seeds',
      convert,
      stop,
      onBad: () => {},
    });
    await expect(pushing).rejects.toThrow('the store is full');
    expect(answered).toBe(calls);
    expect(calls).toBeLessThan(10);
  });
});

describe('the line that shows how far it is', () => {
  const counts = { accepted: 1_200, duplicates: 300, bad: 0 };
  it('has a bar where the end is known, a rate, and fits the terminal', () => {
    expect(seedLine(counts, 0.5, 1.5, 200)).toBe(
      '[##########··········] 50%  1,200 accepted · 300 duplicate · 0 bad · 1,000/s',
    );
    expect(seedLine(counts, null, 3, 30)).toBe('1,200 accepted · 300 duplicat');
  });
});

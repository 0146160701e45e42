/** The file of a backup: written whole or not at all, and read only where it is what was written. */
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackupReader, verifyBackup } from '../../../src/cli/backup/read-backup.js';
import { writeBackup } from '../../../src/cli/backup/write-backup.js';
import type { BackupEntry } from '../../../src/frontier/backup/entry.js';
import { defaultShape } from '../../helpers/open-options.js';
import { tempDir } from '../../helpers/temp-dir.js';

const header = {
  ...{ crawlnodeBackup: 1, spider: 'news', job: null, engine: 'redis', parts: ['dupefilter'] as const },
  ...{ shape: defaultShape, madeAt: '2026-11-21T12:00:00.000Z', counts: {} },
};

/** Enough for several checks. */
const entries: readonly BackupEntry[] = [
  { kind: 'dupefilter', choice: { class: 'StateDupeFilter' }, engine: 'redis', index: null },
  ...Array.from(
    { length: 60 },
    (_, n): BackupEntry => ({
      kind: 'seen',
      values: Array.from({ length: 1_000 }, (_, i) => (n * 1_000 + i).toString(16).padStart(40, '0')),
    }),
  ),
];

async function* all(): AsyncIterable<BackupEntry> {
  yield* entries;
}

let dir: string;
let remove: () => Promise<void>;
beforeEach(() => {
  ({ dir, remove } = tempDir('backup'));
});
afterEach(() => remove());

const abandoned = (name: string, ageMs: number) => {
  const at = new Date(Date.now() - ageMs);
  writeFileSync(`${dir}/${name}`, 'half a backup');
  utimesSync(`${dir}/${name}`, at, at);
};
const write = (name: string, what: AsyncIterable<BackupEntry> = all()) =>
  writeBackup(`${dir}/${name}`, header, what, () => {});
const verify = (name: string) => verifyBackup(`${dir}/${name}`, () => {});

describe('a backup file', () => {
  it('takes away what a killed process left of the same one, also under its own pid, and nothing else', async () => {
    const hourMs = 3_600_000;
    abandoned('a.jsonl.0badcafe.partial', hourMs);
    abandoned(`a.jsonl.${process.pid}.partial`, hourMs);
    const others = ['a.jsonl.12345678.partial', 'b.jsonl.12345678.partial', 'a.jsonl.notes.partial.txt'];
    for (const [n, name] of others.entries()) abandoned(name, n * hourMs);
    await write('a.jsonl');
    expect(readdirSync(dir).sort()).toEqual(['a.jsonl', ...others].sort());
  });

  it.each(['a.jsonl', 'a.jsonl.gz', 'deep/er/a.jsonl'])(
    '%s gives back what was put into it',
    async (name) => {
      const written = await write(name);
      expect(written).toMatchObject({ entries: 61, counts: { seen: 60_000 } });
      expect(readFileSync(written.file).length).toBe(written.bytes);
      expect(await verify(name)).toMatchObject({ header, counts: { seen: 60_000 }, bloomEngine: null });
      expect((await verify(name)).shape.dupefilter.class).toBe('StateDupeFilter');
      const found: BackupEntry[] = [];
      for await (const { number, entry } of new BackupReader(written.file).entries()) {
        found.push(entry);
        expect(number).toBe(found.length);
      }
      expect(found).toEqual(entries);
    },
  );

  it('is not there, and leaves nothing, where the crawl could not be read or the file not be written', async () => {
    async function* broken(): AsyncIterable<BackupEntry> {
      yield* entries;
      throw new Error('the store is away');
    }
    await expect(write('a.jsonl.gz', broken())).rejects.toThrow('the store is away');
    expect(readdirSync(dir)).toEqual([]);
    writeFileSync(`${dir}/file`, '');
    await expect(write('file/a.jsonl')).rejects.toMatchObject({ code: 'backup_unwritable' });
  });

  it('replaces another only when it is whole', async () => {
    writeFileSync(`${dir}/a.jsonl`, 'older');
    async function* broken(): AsyncIterable<BackupEntry> {
      yield entries[0]!;
      throw new Error('the store is away');
    }
    await expect(write('a.jsonl', broken())).rejects.toThrow('the store is away');
    expect(readFileSync(`${dir}/a.jsonl`, 'utf8')).toBe('older');
    await write('a.jsonl');
    expect(await verify('a.jsonl')).toMatchObject({ counts: { seen: 60_000 } });
  });

  it('that is not what was written is refused, and the error says where', async () => {
    await write('whole.jsonl');
    const whole = readFileSync(`${dir}/whole.jsonl`);
    const text = whole.toString();
    const lines = text.split('\n');
    const zipped = gzipSync(whole);
    const flipped = Buffer.from(zipped);
    flipped[flipped.length >> 1]! ^= 0x55;
    const last = (59_999).toString(16).padStart(40, '0');
    const damaged: [name: string, bytes: string | Buffer, says: RegExp][] = [
      ['short', lines.slice(0, 3).join('\n'), /ends after line 2, before its last/],
      ['half', whole.subarray(0, whole.length - 50), /ends after line \d+, before its last/],
      ['first', text.replace('0000001"', '0000002"'), /in the lines 1 to \d\d is not what was written/],
      ['last', text.replace(`${last}"`, `f${last.slice(1)}"`), /in the lines [4-6]\d to 6\d is not/],
      ['broken', text.replace('{"kind":"dup', '{"kind:"dup'), /line 2 is not what was written/],
      ['twice', Buffer.concat([whole, whole]), /something follows its end/],
      ['fewer', lines.toSpliced(5, 1).join('\n'), /is not what was written/],
      ['zipcut', zipped.subarray(0, zipped.length - 300), /before its last/],
      ['zipflip', flipped, /is not what was written|cannot be read beyond line \d+|before its last/],
    ];
    for (const [name, bytes, says] of damaged) {
      writeFileSync(`${dir}/${name}`, bytes);
      await expect(verify(name), name).rejects.toMatchObject({ code: 'backup_damaged' });
      await expect(verify(name), name).rejects.toThrow(says);
    }
  });

  it('that is none, of a later version, or not there is told', async () => {
    writeFileSync(`${dir}/empty`, '');
    writeFileSync(`${dir}/json`, '{"some":"json"}\n');
    writeFileSync(`${dir}/newer`, '{"crawlnodeBackup":9}\n');
    await expect(verify('empty')).rejects.toThrow('is not a backup of a crawl');
    await expect(verify('json')).rejects.toThrow('is not a backup of a crawl');
    await expect(verify('newer')).rejects.toThrow('of format 9, and this crawlnode reads format 1');
    await expect(verify('nowhere')).rejects.toThrow('cannot be read');
    expect(existsSync(`${dir}/nowhere`)).toBe(false);
  });
});

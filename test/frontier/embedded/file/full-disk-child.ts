/** Makes a store on a disk that is too small for it, and again when there is room: `full-disk-child.ts DIR`. DIR is a tmpfs. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { openDatabase } from '../../../../src/frontier/embedded/file/database.js';

const dir = process.argv[2]!;

function make(): string {
  const database = openDatabase(dir);
  try {
    database.writable.of('PRAGMA quick_check').get();
    return 'made';
  } catch (error) {
    return `${(error as { code?: string }).code}`;
  }
}

const first = make();
const left = readdirSync(dir).filter((name) => name.startsWith('frontier.db'));
execFileSync('mount', ['-o', 'remount,size=10m', dir]);
process.stdout.write(JSON.stringify({ first, left, second: make() }));

/** A file that another process has locked for a moment, as it does to recover the log after a kill. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { dataFormats } from '../../../../src/frontier/data-format.js';
import { openDatabase } from '../../../../src/frontier/embedded/file/database.js';
import { tempDir } from '../../../helpers/temp-dir.js';

/** Longer than a call waits once the file is open. */
const LOCKED_MS = 600;
/** 'crnd' in ASCII. */
const APPLICATION_ID = 0x63726e64;
const schema = fileURLToPath(new URL('../../../../src/frontier/embedded/schema.sql', import.meta.url));

it('is waited for', { timeout: 30_000 }, async () => {
  const folder = tempDir('locked');
  const file = path.join(folder.dir, 'frontier.db');
  // By another process: a connection of this one would keep the file open until its statements are garbage-collected.
  const make = `
    const { DatabaseSync } = require('@photostructure/sqlite');
    const { readFileSync } = require('node:fs');
    const database = new DatabaseSync(${JSON.stringify(file)});
    database.exec(readFileSync(${JSON.stringify(schema)}, 'utf8'));
    database.exec('PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${dataFormats.embedded}; PRAGMA journal_mode = WAL');
    database.close();`;
  expect(spawnSync(process.execPath, ['-e', make], { stdio: 'inherit' }).status).toBe(0);
  const script = `
    const { DatabaseSync } = require('@photostructure/sqlite');
    const database = new DatabaseSync(${JSON.stringify(file)}, { timeout: 5_000 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    console.log('locked');
    setTimeout(() => { database.exec('ROLLBACK'); database.close(); }, ${LOCKED_MS});`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const opened = openDatabase(folder.dir);
  expect(opened.readable.all`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  await opened.close();
  await ended;
  await folder.remove();
});

/** LOG_FILE on a disk that fills up. */
import { existsSync } from 'node:fs';
import { readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openLogFile } from '../../../src/cli/log/log-file.js';
import { tempDir } from '../../helpers/temp-dir.js';
import { waitFor } from '../../helpers/wait-for.js';

test.runIf(existsSync('/dev/full'))(
  'a log whose disk was full goes on when there is room, having said so once',
  async () => {
    const { dir, remove } = tempDir('log');
    const file = path.join(dir, 'crawl.log');
    await symlink('/dev/full', file);
    const said: string[] = [];
    const log = await openLogFile(file, (text) => said.push(text), 0);
    await waitFor(() => {
      log.write('lost\n');
      return said.length > 0;
    });
    await rm(file);
    const written = () => readFile(file, 'utf8').catch(() => '');
    await waitFor(async () => {
      log.write('kept\n');
      return (await written()).includes('kept\n');
    });
    await log.close();
    expect(await written()).toMatch(/^\n(kept\n)+$/);
    expect(said).toEqual([expect.stringMatching(/cannot write .*crawl\.log: ENOSPC.*lost until/)]);
    await remove();
  },
);

test('its folders are created', async () => {
  const { dir, remove } = tempDir('log');
  const file = path.join(dir, 'logs', 'today', 'crawl.log');
  const log = await openLogFile(file, () => {});
  log.write('line\n');
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('line\n');
  await remove();
});

/** A store of files that is away for a while: here a folder in whose place there is a file. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/log.js';
import { FolderStore } from '../../../../src/pipelines/files/store/folder-store.js';
import { RetryingStore } from '../../../../src/pipelines/files/store/retrying-store.js';
import { tempDir } from '../../../helpers/temp-dir.js';

function storeInTheWay(giveUpMs: number) {
  const blocked = path.join(tempDir('files').dir, 'store');
  const said: string[] = [];
  const note = (_: object, message: string) => said.push(message);
  const log = { ...silentLogger, warn: note, info: note };
  writeFileSync(blocked, 'in the way');
  return { store: new RetryingStore(new FolderStore(blocked, null), { giveUpMs, log }), blocked, said };
}
const never = new AbortController().signal;
const body = Buffer.from('content');

it('keeps trying, and stores the file once it can', async () => {
  const { store, blocked, said } = storeInTheWay(60_000);
  const writing = store.write('full/a', body, never);
  while (said.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  // Nobody waits here for a store that is known to be away.
  expect(await store.findNow(['full/a'], 1_000)).toBeNull();
  rmSync(blocked);
  expect(await writing).toMatchObject({ path: 'full/a' });
  expect(said).toEqual([
    'files of items cannot be stored; their items wait, and it is tried again',
    'files of items can be stored again',
  ]);
  expect(await store.findNow(['full/a'], 60_000)).toMatchObject({ path: 'full/a' });
});

it('gives up after its time, and when its page is over', async () => {
  const { store } = storeInTheWay(1);
  await expect(store.write('full/a', body, never)).rejects.toMatchObject({ code: 'files_unwritable' });
  const patient = storeInTheWay(60_000);
  const over = new AbortController();
  const writing = patient.store.write('full/a', body, over.signal);
  over.abort();
  await expect(writing).rejects.toMatchObject({ code: 'files_unwritable' });
});

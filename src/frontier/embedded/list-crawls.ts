/** Which crawls a folder holds, for commands that name none. */
import { existsSync } from 'node:fs';
import { HEAD_BYTES } from './keys.js';
import { nameKey } from './spaces.js';
import { openStore } from './store.js';
import { Tables } from './tables.js';

/** @returns the names of their requests keys, such as `news:requests` or `news:requests@monday`, sorted. */
export async function listCrawls(dir: string): Promise<string[]> {
  if (!existsSync(dir)) return [];
  const store = openStore(dir);
  try {
    store.refresh();
    const keys = new Tables(store.db).keys(nameKey(''), 100_000);
    return keys.map((key) => key.toString('utf8', HEAD_BYTES));
  } finally {
    await store.close();
  }
}

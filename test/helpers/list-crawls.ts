/** Which crawls a folder holds, as the embedded engine notes them. */
import { existsSync } from 'node:fs';
import { HEAD_BYTES } from '../../src/frontier/embedded/keys.js';
import { nameKey } from '../../src/frontier/embedded/spaces.js';
import { openStore } from '../../src/frontier/embedded/store.js';
import { Tables } from '../../src/frontier/embedded/tables.js';

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

/** The crawls of a folder, as it lists them. */
import { existsSync } from 'node:fs';
import { HEAD_BYTES } from './keys.js';
import { nameKey } from './spaces.js';
import { openStore } from './store.js';
import { Tables } from './tables.js';

const MAX_CRAWLS = 100_000;

/** @returns the names of their requests keys, such as `news:requests` or `news:requests@monday`, sorted. */
export async function findInFolder(dir: string): Promise<string[]> {
  if (!existsSync(dir)) return [];
  const store = openStore(dir);
  try {
    store.refresh();
    const keys = new Tables(store.db).keys(nameKey(''), MAX_CRAWLS);
    return keys.map((key) => key.toString('utf8', HEAD_BYTES));
  } finally {
    await store.close();
  }
}

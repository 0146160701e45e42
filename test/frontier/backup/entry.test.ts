/** Which parts of a crawl an entry of a backup belongs to. */
import { expect, it } from 'vitest';
import { type BackupEntry, isOfParts } from '../../../src/frontier/backup/entry.js';

it('an entry of a kind that this crawlnode does not know belongs to no part, and is passed over', () => {
  const all = new Set(['queue', 'failed', 'dupefilter', 'start_urls', 'items', 'stats'] as const);
  for (const kind of ['later', 'constructor', '__proto__']) {
    expect(isOfParts({ kind } as unknown as BackupEntry, all)).toBe(false);
  }
});

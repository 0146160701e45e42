/**
 * A process that opens a folder of the embedded engine, commits one more to the number that all have made together, and
 * closes it; so often. `embedded-store-child.ts FOLDER TIMES`
 */
import { openStore } from '../src/frontier/embedded/store.js';

/** Where the number lies. */
export const tally = Buffer.from('tally');

const [, script, dir, times] = process.argv;
// Imported for the key alone, it does nothing.
if (script?.includes('embedded-store-child') === true && dir !== undefined) {
  for (let n = 0; n < Number(times); n += 1) {
    const store = openStore(dir);
    store.transact(() => {
      const before = Number(store.db.get(tally)?.toString() ?? 0);
      store.db.putSync(tally, Buffer.from(String(before + 1)));
    });
    await store.close();
    await new Promise((resolve) => setTimeout(resolve, Math.random()));
  }
}

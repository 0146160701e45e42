/** The embedded engine passes the contract, on each SQLite that this Node has. */
import { sqliteDriver, useDriver } from '../../../src/disk/sqlite.js';
import { openEmbedded } from '../../../src/frontier/embedded/embedded-frontier.js';
import { frontierContract } from '../../frontier-contract/frontier-contract.js';
import { worldOf } from '../../frontier-contract/world.js';
import { clockOfThisProcess, embeddedHand } from '../../helpers/frontier/embedded-hand.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { tempDir } from '../../helpers/temp-dir.js';

const drivers = sqliteDriver() === 'node' ? (['node', 'package'] as const) : (['package'] as const);

for (const driver of drivers) {
  frontierContract(`embedded (${driver})`, async () => {
    useDriver(driver);
    const { dir, remove } = tempDir('embedded');
    return worldOf(
      (shape) => openEmbedded(openOptions(dir, 'news', { shape: { ...defaultShape, ...shape } }), dir),
      remove,
      embeddedHand(dir),
      clockOfThisProcess(),
    );
  });
}

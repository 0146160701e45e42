import { EmbeddedFrontier } from '../src/frontier/embedded/embedded-frontier.js';
import { worldOf } from './frontier-contract/world.js';
import { frontierContract } from './frontier-contract.js';
import { defaultShape, openOptions } from './helpers/open-options.js';
import { tempDir } from './helpers/temp-dir.js';
frontierContract('embedded', async () => {
  const { dir, remove } = tempDir('embedded');
  return worldOf(
    (shape) => EmbeddedFrontier.open(openOptions(dir, 'news', { shape: { ...defaultShape, ...shape } }), dir),
    remove,
  );
});

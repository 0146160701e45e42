/** A store that is made on a full disk: a small tmpfs, where this user may mount one. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempDir } from '../../../helpers/temp-dir.js';

const child = fileURLToPath(new URL('./full-disk-child.ts', import.meta.url));
/** In namespaces of its own, so the mount is gone with the process. */
const onSmallDisk = (dir: string, size: string, ...command: string[]) =>
  spawnSync(
    'unshare',
    [
      '-rm',
      'sh',
      '-c',
      'mount -t tmpfs -o size="$1" tmpfs "$0" && shift && exec "$@"',
      dir,
      size,
      ...command,
    ],
    { encoding: 'utf8' },
  );

/** Not every user may, and not every system can. */
const mounts = onSmallDisk('/tmp', '300k', 'true').status === 0;

it.skipIf(!mounts).each(['300k'])(
  'of %s is said to be full, and the store is made when there is room',
  async (size) => {
    const folder = tempDir('small-disk');
    try {
      const { stdout, stderr } = onSmallDisk(
        folder.dir,
        size,
        process.execPath,
        '--import',
        'tsx',
        child,
        folder.dir,
      );
      expect(stderr).toBe('');
      const { left, ...answers } = JSON.parse(stdout) as { first: string; left: string[]; second: string };
      expect(answers).toEqual({
        first: expect.stringMatching(/^(disk_full|made)$/),
        second: 'made',
      });
      expect(left.filter((name) => name.includes('.new'))).toEqual([]);
    } finally {
      await folder.remove();
    }
  },
);

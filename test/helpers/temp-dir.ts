/** Temporary folders that disappear with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { disown, own, type Resource } from './resources.js';

/** Every temporary folder of the tests begins with this and the id of the process that made it. */
export const tempPrefix = `crawlnode-test-${process.pid}-`;

/** A folder of one's own. */
export interface TempDir {
  readonly dir: string;
  remove(): Promise<void>;
}

/** Make an empty temporary folder; it is removed with `remove()`, else after the test file. */
export function tempDir(name = 'tmp'): TempDir {
  const dir = mkdtempSync(path.join(os.tmpdir(), `${tempPrefix}${name}-`));
  const resource: Resource = {
    name: `the folder ${dir}`,
    close: async () => {
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
      disown(resource);
    },
    abandon: () => {
      try {
        rmSync(dir, { recursive: true, force: true });
      } catch {
        // The process is ending; the system's own cleaning of its temporary folder is what is left.
      }
    },
  };
  own(resource);
  return { dir, remove: () => resource.close() };
}

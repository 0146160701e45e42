/** The check of `doctor` for libraries of other versions of crawlnode on a server. */
import type { Redis } from 'ioredis';
import type { Findings } from '../../findings.js';
import { isDenied } from '../connection/errors.js';
import { library } from '../connection/library.js';

/** Data format and hash: see `library.ts`. */
const ours = /^cn\d+_[0-9a-f]{8}$/;

export async function examineLibraries(server: Redis, found: Findings): Promise<void> {
  const others = (await librariesOf(server)).filter((name) => ours.test(name) && name !== library().name);
  if (others.length === 0) return;
  const commands = others.sort().map((name) => `FUNCTION DELETE ${name}`);
  found.info(
    'functions',
    `holds functions of other versions of crawlnode: ${others.join(', ')}`,
    `${commands.join('; ')} (takes the right +function|delete). A node of such a version that still runs would load its own again by itself`,
  );
}

/** The names of all libraries; none when FUNCTION is denied or unknown, which other checks report. */
async function librariesOf(server: Redis): Promise<string[]> {
  try {
    const libraries = (await server.call('FUNCTION', 'LIST', 'LIBRARYNAME', 'cn*')) as unknown[][];
    return libraries.map((fields) => String(fields[fields.indexOf('library_name') + 1]));
  } catch (error) {
    if (isDenied(error) || /unknown (sub)?command/i.test(String(error))) return [];
    throw error;
  }
}

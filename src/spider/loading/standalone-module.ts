/**
 * Loads a TypeScript module without module hooks. Node 20 runs hooks in a thread, whose start costs more CPU than most spiders.
 * A module qualifies that imports nothing but `crawlnode` and modules of Node, as most spiders do. Its JavaScript is imported
 * from the cache of compiled code. A `data:` URL would need no file, but Node applies no source map to it.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { compileCached, idOf } from './compile-cached.js';

/** The static imports at the head of a module as esbuild prints them. */
const head = /^(?:import (?:[^"';]+ from )?"(?:crawlnode|node:[\w/]+)";\n)*/;
/** May be another import, or `import.meta`. A false alarm only costs the start of the hooks. */
const otherImport = /\bimport\b|\bfrom ?["']/;

export interface StandaloneModule {
  /** URL of the user's file. */
  readonly source: string;
  /** URL to import. It is the same in each call for a file that did not change. */
  readonly compiled: string;
}

/**
 * @param crawlnode URL of the entry of the running copy
 * @param folder of the cache, which only this user can write to
 * @returns null for a module that needs the hooks
 */
export async function standaloneModule(
  file: string,
  crawlnode: string,
  folder: string | null,
): Promise<StandaloneModule | null> {
  if (folder === null || !/\.m?ts$/.test(file)) return null;
  const real = await realpath(file);
  const code = compileCached(real, folder);
  const [imports] = head.exec(code)!;
  const body = code.slice(imports.length);
  if (otherImport.test(body)) return null;
  const linked = Buffer.from(imports.replaceAll('"crawlnode";', `${JSON.stringify(crawlnode)};`) + body);
  // Another copy of crawlnode has another file.
  const compiled = path.join(folder, `${path.basename(real)}-${idOf([crawlnode, code])}.mjs`);
  if (!readPrivateFile(compiled)?.equals(linked)) {
    try {
      writePrivateFile(compiled, linked);
    } catch {
      return null;
    }
  }
  return { source: pathToFileURL(real).href, compiled: pathToFileURL(compiled).href };
}

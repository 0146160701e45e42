/** The names of spiders as the text of their modules states them. No module is loaded, so it is quick and runs no code. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { spiderFiles } from './spider-files.js';

/**
 * The names of the spiders in the folders of SPIDER_MODULES, sorted: for completion, which may miss a name that is computed
 * or inherited. A folder that does not exist has none.
 */
export async function namesInText(folders: readonly string[]): Promise<string[]> {
  const files = (await Promise.all(folders.map(spiderFiles))).flatMap((listing) => listing ?? []);
  const names = await Promise.all(files.map(nameInFile));
  return [...new Set(names.filter((name) => name !== null))].sort();
}

async function nameInFile(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return nameInText(text, path.parse(file).name);
}

/**
 * The name of the spider that a module exports by default; null for a module without one.
 * @param fileName without its ending; taken where the class states no name that is plain text, since most files are named
 *   like their spider
 */
export function nameInText(text: string, fileName: string): string | null {
  const exported = /^\s*export\s+default\s/m.exec(text);
  if (exported === null) return null;
  // The class stands behind "export default", or before it: "export default Shop;".
  const [, stated] = nameField.exec(text.slice(exported.index)) ?? nameField.exec(text) ?? [];
  const name = stated === undefined || stated.includes('${') ? fileName : stated;
  return /^[A-Za-z0-9._-]{1,64}$/.test(name) ? name : null;
}

/** The field of a class: `name = 'shop'`, with a type or modifiers; not `const name`. */
const nameField =
  /(?:^|[{;])\s*(?:(?:public|readonly|override|declare|static)\s+)*name\s*(?::[^=\n]+)?=\s*['"`]([^'"`\n]+)['"`]/m;

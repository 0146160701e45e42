/** The texts of `lua/`. The build replaces this module by its values. */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./lua/', import.meta.url);

/** Path below `lua/` → text, sorted by path. */
export const luaFiles: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]),
);

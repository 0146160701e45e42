/** The version of this package. */
import { readFileSync } from 'node:fs';

/** As package.json says; it lies two folders up from both src/cli and dist/cli. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

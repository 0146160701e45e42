/** The version of this package. */
import { readFileSync } from 'node:fs';

/** As package.json says; it lies beside both src and dist. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

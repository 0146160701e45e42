/** The version of this package. */
import { readFileSync } from 'node:fs';
import { ownFolder } from '../outside.js';

/** As package.json says; it lies beside both src and dist. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', ownFolder), 'utf8')).version;
}

/** The text of `nightly.sh`. The build replaces this module by its value. */
import { readFileSync } from 'node:fs';

export const nightly: string = readFileSync(new URL('./nightly.sh', import.meta.url), 'utf8');

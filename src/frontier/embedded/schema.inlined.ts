/** The text of `schema.sql`. The build replaces this module by its value. */
import { readFileSync } from 'node:fs';

export const schemaSql: string = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

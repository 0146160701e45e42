/**
 * The library of Redis Functions that is this engine: all files of `lua/` as one text, which Redis compiles once.
 *
 * Each file has a table of its own, named like the file (`base/meta.lua` fills `meta`); all tables are declared at the
 * head, so files may call each other. A file is a block, since Lua takes 200 locals at most in one.
 *
 * Functions are global to a server, so their names carry the data format and a hash of the text (`cn13_ab12cd34_settle`):
 * the libraries of two versions live side by side.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { messageOf } from '../../../errors.js';
import { dataFormats } from '../../data-format.js';
import { type Client, serversOf } from './client.js';
import { isFull, LibraryNeedsMemory } from './errors.js';

const luaFolder = new URL('../lua/', import.meta.url);

/** What runs while the library is loaded; all else only declares what a call runs. */
const first = ['base/verbs.lua', 'dupefilters/dupefilters.lua'];

export interface Library {
  /** What FUNCTION LOAD takes. */
  readonly text: string;
  readonly name: string;
  /** Name of the function of a verb. */
  functionOf(verb: string): string;
}

let assembled: Library | undefined;

/** The library of this version. */
export function library(): Library {
  assembled ??= assemble();
  return assembled;
}

/**
 * Give a server, or each master of a Cluster, the library of this version.
 * @param client of a Cluster all masters are given it: a FUNCTION LOAD without keys goes to any one of them.
 * @throws LibraryNeedsMemory where the server is full: Redis loads nothing then.
 */
export async function loadLibrary(client: Client): Promise<void> {
  await Promise.all(serversOf(client).map(loadInto));
}

/** Without REPLACE: under one name there is only ever one text. */
async function loadInto(server: Redis): Promise<void> {
  try {
    await server.function('LOAD', library().text);
  } catch (error) {
    if (isFull(error)) throw new LibraryNeedsMemory(error);
    if (!/already exists/.test(messageOf(error))) throw error;
  }
}

function assemble(): Library {
  const all = readdirSync(luaFolder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.lua') && !first.includes(file))
    .sort();
  const files = [...first, ...all];
  const tables = files.map(tableOf);
  const body = [
    `local FORMAT = '${dataFormats.redis}'`,
    `local ${tables.join(', ')} = ${tables.map(() => '{}').join(', ')}`,
    ...files.map((file) => `do -- ${file}\n${readFileSync(new URL(file, luaFolder), 'utf8')}end`),
  ].join('\n');
  const hash = createHash('sha1').update(body).digest('hex').slice(0, 8);
  const name = `cn${dataFormats.redis}_${hash}`;
  return {
    text: `#!lua name=${name}\nlocal LIBRARY = '${name}'\n${body}\n`,
    name,
    functionOf: (verb) => `${name}_${verb}`,
  };
}

/** The table of a file: its name, in one word. */
function tableOf(file: string): string {
  const base = file.slice(file.lastIndexOf('/') + 1, -'.lua'.length);
  return base.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

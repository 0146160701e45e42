/**
 * The library of Redis Functions that is this engine: all files of `lua/` as one text, which Redis compiles once.
 *
 * Each file has a table of its own, named like the file (`base/meta.lua` fills `meta`); all tables are declared at the
 * head, so files may call each other. A file is a block, since Lua takes 200 locals at most in one.
 *
 * Functions are global to a server, so their names carry the data format and a hash of the text (`cn14_ab12cd34_settle`):
 * the libraries of two versions live side by side.
 */
import { createHash } from 'node:crypto';
import { closingReasons } from '../../budgets.js';
import { dataFormats } from '../../data-format.js';
import * as limits from '../../types/limits.js';
import { keyTypes, MAX_FIELDS } from '../keys.js';
import { luaFiles } from '../lua-files.inlined.js';
import { type Client, callFunction, resultsOf } from './client.js';
import { isFull, LibraryNeedsMemory, OtherLibrary } from './errors.js';
import { int, list, type Reply, text } from './reply.js';

/** The numbers of the rules that both engines obey, as Lua reads them: `limits.MAX_CRASHES`. Sorted: the library's name is a hash. */
const sharedLimits = Object.entries(limits)
  .map(([name, value]) => `${name} = ${value}`)
  .sort()
  .join(', ');

const keyWords = Object.keys(keyTypes);

/** The closing reason of each budget, in the order of the checks. */
const reasons = Object.entries(closingReasons)
  .map(([budget, reason]) => `{ budget = '${budget}', reason = '${reason}' }`)
  .join(', ');

/** What other files call while the library is loaded: to register a verb, and to make a class of dupefilters that expire. */
const first = ['base/verbs.lua', 'dupefilters/expiring.lua'];

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
 * Call a function on a server that lacks the library. The server is given it in the same transaction, so nobody can take
 * it away before the call. Under one name there is only ever one text; any other is somebody else's, and is replaced.
 * @param client of a Cluster the server of the keys is given it
 * @throws LibraryNeedsMemory where the server is full: Redis loads nothing then.
 */
export async function loadAndCall(
  client: Client,
  name: string,
  keys: readonly string[],
  packed: Buffer,
): Promise<Reply> {
  const transaction = client.multi();
  transaction.function('LOAD', 'REPLACE', library().text);
  callFunction(transaction, name, keys, packed);
  const [loaded, called] = await resultsOf(transaction).catch((error: unknown) => {
    throw isFull(error) ? new LibraryNeedsMemory(error) : error;
  });
  const failure = called?.[0] ?? loaded?.[0];
  if (failure) throw failure;
  return called?.[1] as Reply;
}

/** The answer of a verb, and `meta.progress` (`lua/base/meta.lua`); null where the verb has not read it. */
export interface Answer {
  readonly reply: Reply;
  readonly progress: number | null;
}

/**
 * @throws OtherLibrary where the function was not ours: each answer of ours begins with the name of the library.
 */
export function answerIn(reply: Reply): Answer {
  const { name } = library();
  if (!Array.isArray(reply) || text(list(reply)[0]) !== name) throw new OtherLibrary(name);
  const [, answer = null, progress] = list(reply);
  return { reply: answer, progress: progress == null ? null : int(progress) };
}

function assemble(): Library {
  const files = [...first, ...Object.keys(luaFiles).filter((file) => !first.includes(file))];
  const tables = files.map(tableOf);
  const body = [
    `local FORMAT = '${dataFormats.redis}'`,
    `local limits = { ${sharedLimits} }`,
    `local closingReasons = { ${reasons} }`,
    `local ${tables.join(', ')} = ${tables.map(() => '{}').join(', ')}`,
    `local keyWords = { ${keyWords.map((word) => `'${word}'`)} }`,
    `local keyTypes = { ${keyWords.map((word) => `['${word}'] = ${luaText(keyTypes[word])}`)} }`,
    `local maxFields = { ${Object.entries(MAX_FIELDS).map(([word, most]) => `['${word}'] = ${most}`)} }`,
    `local function keysByName(KEYS) return { ${keyWords.map((word, n) => `['${word}'] = KEYS[${n + 1}]`)} } end`,
    ...files.map((file) => `do -- ${file}\n${luaFiles[file]}end`),
  ].join('\n');
  const hash = createHash('sha1').update(body).digest('hex').slice(0, 8);
  const name = `cn${dataFormats.redis}_${hash}`;
  return {
    text: `#!lua name=${name}\nlocal LIBRARY = '${name}'\n${body}\n`,
    name,
    functionOf: (verb) => `${name}_${verb}`,
  };
}

const luaText = (text: string | null | undefined): string => (text == null ? 'nil' : `'${text}'`);

/** The table of a file: its name, in one word. */
function tableOf(file: string): string {
  const base = file.slice(file.lastIndexOf('/') + 1, -'.lua'.length);
  return base.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The Lua scripts: one file a verb, put behind the parts that it names in its `uses` line and those that they use.
 * The part `dupefilter` is that of the crawl's own class, behind its parameters as constants, and `life` one that does
 * nothing unless the class follows requests: so a script carries no class but its own, and asks for none at run time.
 * Read once, known by their SHA-1.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ownFolder } from '../../outside.js';
import { bloomSizing } from '../bloom-sizing.js';
import { dataFormats } from '../data-format.js';
import type { Dupefilter } from '../frontier.js';
import { dupefilterText } from '../shape.js';
import { nestScript } from './nest-script.js';
import { deferRareFunctions } from './rare-functions.js';
import { trimScript } from './trim-script.js';

/** One file a verb; the parts that they share lie in parts/. */
export const luaFolder = new URL('frontier/redis/lua/', ownFolder);

export type Verb =
  | 'clear'
  | 'control'
  | 'feed-checkpoint'
  | 'feed-open'
  | 'feed-take'
  | 'forget'
  | 'heartbeat'
  | 'intake'
  | 'join'
  | 'lease'
  | 'leave'
  | 'purge-failed'
  | 'push'
  | 'read-leases'
  | 'reconcile'
  | 'recover'
  | 'repair-begin'
  | 'repair-end'
  | 'repair-requeue'
  | 'restore-begin'
  | 'restore-bits'
  | 'restore-crawl'
  | 'restore-end'
  | 'restore-failed'
  | 'restore-requests'
  | 'restore-seen'
  | 'restore-values'
  | 'retry-failed'
  | 'seen'
  | 'settle'
  | 'sweep'
  | 'throttle'
  | 'turn';

export interface Script {
  readonly source: string;
  readonly sha: string;
}

/** By the object: a client asks with the same one at each call. */
const loaded = new WeakMap<Dupefilter, Map<Verb, Script>>();

/** The script of a verb in a crawl with this dupefilter, ready for EVALSHA. */
export function scriptOf(verb: Verb, dupefilter: Dupefilter): Script {
  const known = loaded.get(dupefilter) ?? new Map<Verb, Script>();
  loaded.set(dupefilter, known);
  let script = known.get(verb);
  if (script === undefined) {
    const source = assemble(verb, dupefilter);
    script = { source, sha: createHash('sha1').update(source).digest('hex') };
    known.set(verb, script);
  }
  return script;
}

const dupefilterParts: Readonly<Record<Dupefilter['class'], string>> = {
  RFPDupeFilter: 'dupefilter-rfp',
  TimedRFPDupeFilter: 'dupefilter-timed',
  StateDupeFilter: 'dupefilter-state',
  BloomDupeFilter: 'dupefilter-bloom',
  CompactDupeFilter: 'dupefilter-compact',
};

/** The verb behind what it needs of its parts, each once and after those it uses. */
function assemble(verb: Verb, dupefilter: Dupefilter): string {
  const parts = new Map<string, string>();
  const take = (file: string, name: string): string => {
    const text = name === 'agreement' ? constantsOf(dupefilter) + read(file) : read(file);
    for (const part of usesOf(text)) {
      if (!parts.has(part)) parts.set(part, take(`parts/${fileOf(part, dupefilter)}`, part));
    }
    return text;
  };
  const base = `local FORMAT = '${dataFormats.redis}'\n${read('parts/base')}`;
  const body = take(verb, verb);
  const trimmed = trimScript([base, ...parts.values()], body);
  const deferred = deferRareFunctions(trimmed.declarations, trimmed.verb);
  return nestScript(deferred.declarations, deferred.verb);
}

function fileOf(part: string, dupefilter: Dupefilter): string {
  if (part === 'dupefilter') return dupefilterParts[dupefilter.class];
  if (part === 'life') return dupefilter.class === 'StateDupeFilter' ? 'life' : 'no-life';
  return part;
}

/** What the part of a class needs to know, as Lua. */
function constantsOf(dupefilter: Dupefilter): string {
  const constants: [name: string, value: string | number][] = [
    ['DUPEFILTER', `[=[${dupefilterText(dupefilter)}]=]`],
  ];
  if (dupefilter.class === 'TimedRFPDupeFilter') constants.push(['EXPIRE_MS', dupefilter.expireMs]);
  if (dupefilter.class === 'BloomDupeFilter') {
    const { capacity, bits, hashes, bitsPerHalving } = bloomSizing(dupefilter);
    constants.push(['CAPACITY', capacity], ['BITS', bits], ['HASHES', hashes]);
    constants.push(['BITS_PER_HALVING', bitsPerHalving]);
  }
  return constants.map(([name, value]) => `local ${name} = ${value}\n`).join('');
}

/** The parts named in a line such as `-- uses: meta domains`. */
function usesOf(text: string): string[] {
  return /^-- uses: (.+)$/m.exec(text)?.[1]?.split(' ') ?? [];
}

/** Of each file its text: most verbs use most parts. */
const texts = new Map<string, string>();

function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(new URL(`${file}.lua`, luaFolder), 'utf8');
  texts.set(file, text);
  return text;
}

/** The Lua scripts: one file a verb, each with the prelude in front. Read once, known by their SHA-1. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type Verb =
  | 'clear'
  | 'control'
  | 'feed-checkpoint'
  | 'feed-open'
  | 'forget'
  | 'heartbeat'
  | 'intake'
  | 'join'
  | 'lease'
  | 'leave'
  | 'purge-failed'
  | 'push'
  | 'reconcile'
  | 'recover'
  | 'retry-failed'
  | 'settle'
  | 'throttle';

export interface Script {
  readonly source: string;
  readonly sha: string;
}

const loaded = new Map<Verb, Script>();
const read = (name: string): string => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');

/** The script of a verb, ready for EVALSHA. */
export function scriptOf(verb: Verb): Script {
  const known = loaded.get(verb);
  if (known) return known;
  const source = `${read('prelude')}\n${read(verb)}`;
  const script = { source, sha: createHash('sha1').update(source).digest('hex') };
  loaded.set(verb, script);
  return script;
}

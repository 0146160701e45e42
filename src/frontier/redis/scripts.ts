/**
 * The Lua scripts: one file a verb, put behind the parts that it names in its `uses` line and those that they use.
 * Read once, known by their SHA-1.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

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

/** The script of a verb, ready for EVALSHA. */
export function scriptOf(verb: Verb): Script {
  const known = loaded.get(verb);
  if (known) return known;
  const source = assemble(verb);
  const script = { source, sha: createHash('sha1').update(source).digest('hex') };
  loaded.set(verb, script);
  return script;
}

/** The verb behind its parts, each once and after those it uses. */
function assemble(verb: Verb): string {
  const texts = new Map<string, string>([['base', read('parts/base')]]);
  const take = (file: string, name: string): void => {
    if (texts.has(name)) return;
    const text = read(file);
    for (const part of usesOf(text)) take(`parts/${part}`, part);
    texts.set(name, text);
  };
  take(verb, `verb ${verb}`);
  return [...texts.values()].join('\n');
}

/** The parts named in a line such as `-- uses: meta domains`. */
function usesOf(text: string): string[] {
  return /^-- uses: (.+)$/m.exec(text)?.[1]?.split(' ') ?? [];
}

function read(file: string): string {
  return readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8');
}

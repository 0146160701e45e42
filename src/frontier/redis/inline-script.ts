/**
 * Functions of one statement are put where they are called: each closure is made anew at each call of a script, with what it
 * captures (measured: 0.3 µs, its collection included), and a Lua call costs as much as ten steps.
 */
import type { Declaration } from './trim-script.js';

interface Inline {
  readonly params: readonly string[];
  readonly body: string;
  readonly isExpression: boolean;
}

const oneStatement = /^local function (\w+)\(([\w, ]*)\)\s+(return )?(?:([^\n]+)\s+)?end$/;
const keyword = /\b(?:function|local|if|for|while|repeat|do|return|then|end)\b/;
const word = /(?<![.:\w'])[A-Za-z_]\w*/g;
const text = /'(?:[^'\\]|\\.)*'/g;
/** What may stand anywhere, and more than once, as it does nothing and costs little. */
const simple = /^(?:[\w.]+|'(?:[^'\\]|\\.)*'|\w+\[[\w.]+\])$/;
const atStatement = /(?:^|\n|\bthen|\bdo|\belse|\bend|;)\s*$/;

/** @param declarations in order. @returns them without those that nobody calls any more. */
export function inlineScript(
  declarations: readonly Declaration[],
  verb: string,
): { readonly declarations: Declaration[]; readonly verb: string } {
  const inner = innerNames([...declarations.map((declaration) => declaration.text), verb], verb);
  const inlines = new Map<string, Inline>();
  const written: Declaration[] = [];
  for (const declaration of declarations) {
    const own = withInlines(declaration.text, inlines);
    written.push({ ...declaration, text: own });
    const inline = inlineOf(own, inner);
    if (inline !== null) inlines.set(declaration.names[0] as string, inline);
  }
  const body = withInlines(verb, inlines);
  const named = new Set(body.match(word));
  const kept: Declaration[] = [];
  for (const declaration of written.toReversed()) {
    if (!declaration.names.some((name) => named.has(name))) continue;
    for (const name of declaration.text.match(word) ?? []) named.add(name);
    kept.unshift(declaration);
  }
  return { declarations: kept, verb: body };
}

/** Names that mean something else within a function, or in the verb. */
function innerNames(texts: readonly string[], verb: string): Set<string> {
  const names = new Set<string>();
  const add = (list = ''): void => {
    for (const name of list.match(word) ?? []) names.add(name);
  };
  for (const one of texts) {
    for (const [, params] of one.matchAll(/\bfunction\s*\w*\(([^)]*)\)/g)) add(params);
    for (const [, list] of one.matchAll(/\bfor ([\w, ]+?) (?:in|=)/g)) add(list);
    for (const [, list] of one.matchAll(/^[ ].*?\blocal (?!function)([\w, ]+)/gm)) add(list);
    for (const [, name] of one.matchAll(/^ +local function (\w+)/gm)) add(name);
  }
  for (const [, list] of verb.matchAll(/\blocal (?:function )?([\w, ]+)/g)) add(list);
  return names;
}

function inlineOf(declared: string, inner: ReadonlySet<string>): Inline | null {
  const [found, , list = '', returns, body = ''] = oneStatement.exec(declared) ?? [];
  if (found === undefined) return null;
  const params: readonly string[] = list.match(word) ?? [];
  const bare = body.replace(text, '');
  const taken = (bare.match(word) ?? []).filter((name) => !params.includes(name));
  if (keyword.test(bare) || taken.some((name) => inner.has(name))) return null;
  if (returns !== undefined && splitAtCommas(body).length > 1) return null;
  return { params, body, isExpression: returns !== undefined };
}

function withInlines(source: string, inlines: ReadonlyMap<string, Inline>): string {
  let result = source;
  for (const [name, inline] of inlines) {
    for (let from = 0; ; ) {
      const at = indexOfCall(result, name, from);
      if (at === -1) break;
      const end = endOfCall(result, at + name.length);
      const args = splitAtCommas(result.slice(at + name.length + 1, end - 1));
      const isStatement = atStatement.test(result.slice(0, at));
      const put = isStatement === inline.isExpression ? null : putInPlace(inline, args);
      if (put !== null) result = result.slice(0, at) + put + result.slice(end);
      from = at + 1;
    }
  }
  return result;
}

function indexOfCall(source: string, name: string, from: number): number {
  const found = new RegExp(`(?<![.:\\w'])(?<!function )${name}\\(`, 'g');
  found.lastIndex = from;
  return found.exec(source)?.index ?? -1;
}

function putInPlace({ params, body, isExpression }: Inline, args: readonly string[]): string | null {
  const used = body.replace(text, '').match(word) ?? [];
  // One that stands for several values, or for none.
  if (args.length !== params.length && !args.every((arg) => simple.test(arg))) return null;
  for (const [n, param] of params.entries()) {
    const uses = used.filter((name) => name === param).length;
    if (!simple.test(args[n] ?? 'nil') && uses !== 1) return null;
  }
  const put = body.replace(/'(?:[^'\\]|\\.)*'|(?<![.:\w])[A-Za-z_]\w*/g, (found) => {
    const arg = params.includes(found) ? (args[params.indexOf(found)] ?? 'nil') : found;
    return params.includes(found) && !simple.test(arg) ? `(${arg})` : arg;
  });
  return isExpression ? `(${put})` : put;
}

/** Behind the parenthesis that closes the one at `open`. */
function endOfCall(source: string, open: number): number {
  let depth = 0;
  for (let at = open; at < source.length; at++) {
    if (source[at] === "'") at = endOfText(source, at);
    else if (source[at] === '(') depth += 1;
    else if (source[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  throw new Error(`a call without an end: ${source.slice(open, open + 80)}`);
}

function splitAtCommas(list: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < list.length; at++) {
    const character = list[at] as string;
    if (character === "'") at = endOfText(list, at);
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === ',' && depth === 0) {
      items.push(list.slice(from, at).trim());
      from = at + 1;
    }
  }
  const last = list.slice(from).trim();
  return last === '' && items.length === 0 ? [] : [...items, last];
}

/** Where a text in quotes that begins at `at` ends. */
function endOfText(source: string, at: number): number {
  const found = /'(?:[^'\\]|\\.)*'/y;
  found.lastIndex = at;
  return at + (found.exec(source)?.[0].length ?? 1) - 1;
}

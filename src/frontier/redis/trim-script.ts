/**
 * What a script's verb does not need of its parts is left out before it is sent: Lua makes every closure and every local
 * anew at each call, used or not (measured: of 62 µs for a settle alone, 20 went by before its first command; 12 so).
 * Parts hold declarations only, each beginning at the margin, so a declaration nobody names can go.
 */
import { namesIn } from './lua-names.js';

const declaration = /^local (?:function (\w+)|([\w, ]+?)(?: =|$))/;
/** A constant goes where its name stands: a closure that captures it would cost more than the value. */
const constant = /^local ([A-Z_\d, ]+) = ((?:\d+|'[^']*')(?:, (?:\d+|'[^']*'))*)$/;
const nameOrString = /'(?:[^'\\]|\\.)*'|\b[A-Z][A-Z_\d]*\b/g;

/** On the first line of a function that few calls come to: see rare-functions.ts. */
const rarely = /^local function .* -- rarely: (\w+)/;

export interface Declaration {
  readonly text: string;
  readonly names: readonly string[];
  /** Of a function that few calls come to, which others are made with it. */
  readonly group: string | undefined;
}

/** @param parts in the order of their use, each before those that name it. @returns those declarations that count. */
export function trimScript(
  parts: readonly string[],
  verb: string,
): { readonly declarations: Declaration[]; readonly verb: string } {
  const constants = new Map<string, string>();
  const statements = parts.flatMap(statementsOf).filter((text) => !isConstant(text, constants));
  const own = withoutComments(verb)
    .split('\n')
    .filter((line) => !isConstant(line, constants));
  const body = withConstants(own.join('\n'), constants);
  const named = new Set(namesIn(body));
  const declarations: Declaration[] = [];
  for (const raw of statements.toReversed()) {
    const text = withConstants(raw.replace(/^(local .*?) --.*/, '$1'), constants);
    const names = namesOf(text);
    if (!names.some((name) => named.has(name))) continue;
    for (const name of namesIn(text)) named.add(name);
    declarations.unshift({ text, names, group: rarely.exec(raw)?.[1] });
  }
  return { declarations, verb: body };
}

function withoutComments(text: string): string {
  return text.replace(/^\s*--.*\n/gm, '');
}

/** What begins at the margin, with the lines that belong to it. */
function statementsOf(part: string): string[] {
  return withoutComments(part)
    .split(/\n(?=[a-z])(?!end\b)/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function isConstant(text: string, constants: Map<string, string>): boolean {
  const [, names = '', values = ''] = constant.exec(text.replace(/ --.*$/, '')) ?? [];
  if (names === '') return false;
  const list = values.match(/\d+|'[^']*'/g) ?? [];
  for (const [n, name] of names.split(', ').entries()) {
    if (constants.has(name)) throw new Error(`two parts have a constant named ${name}`);
    constants.set(name, list[n] ?? 'nil');
  }
  return true;
}

function withConstants(text: string, constants: ReadonlyMap<string, string>): string {
  return text.replace(nameOrString, (found) => constants.get(found) ?? found);
}

/** What a statement declares. */
function namesOf(text: string): string[] {
  const [, name, names] = declaration.exec(text) ?? [];
  if (name === undefined && names === undefined)
    throw new Error(`a part declares, and does nothing else: ${text}`);
  return name === undefined ? (names ?? '').split(', ') : [name];
}

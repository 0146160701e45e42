/**
 * Functions that few calls come to are made when a call does: Lua makes every closure anew at each call, at 1,200
 * instructions each (measured: half of what a call of settles takes before its first command), and collects it afterwards.
 * They are marked `-- rarely: <group>` where they are declared. A group is made at once, with all that nothing else names,
 * and its functions are fields of the table `rare`, which has none at first.
 */
import { namesIn, stringOrName } from './lua-names.js';
import type { Declaration } from './trim-script.js';

/** @returns what every call makes, in order, and the verb behind what makes the rest. */
export function deferRareFunctions(
  declarations: readonly Declaration[],
  verb: string,
): { readonly declarations: Declaration[]; readonly verb: string } {
  const groups = groupsOf(declarations, verb);
  // Of those declared so far: a later one's name may be that of something else in an earlier text.
  const groupOf = new Map<string, string | undefined>();
  const fields = new Set<string>();
  const textIn = (group: string | undefined, text: string): string => {
    const isElsewhere = (name: string) => {
      const its = groupOf.get(name);
      return its !== undefined && its !== group;
    };
    const rareOnes = new Set(namesIn(text).filter(isElsewhere));
    if (rareOnes.size === 0) return text;
    for (const name of rareOnes) fields.add(name);
    return text.replace(stringOrName, (found) => (rareOnes.has(found) ? `rare.${found}` : found));
  };
  const always: Declaration[] = [];
  const rare = new Map<string, string[]>();
  for (const [n, declaration] of declarations.entries()) {
    const group = groups[n];
    for (const name of declaration.names) groupOf.set(name, group);
    const text = textIn(group, declaration.text);
    if (group === undefined) always.push({ ...declaration, text });
    else rare.set(group, [...(rare.get(group) ?? []), text]);
  }
  const body = textIn(undefined, verb);
  if (rare.size === 0) return { declarations: always, verb };
  const makers: string[] = [];
  const choice: string[] = [];
  for (const [group, texts] of rare) {
    const names = [...fields].filter((name) => groupOf.get(name) === group);
    const made = `${names.map((name) => `rare.${name}`).join(', ')} = ${names.join(', ')}`;
    makers.push(`local function make_${group}()`, ...texts, made, 'end');
    choice.push(`if ${names.map((name) => `name == '${name}'`).join(' or ')} then make_${group}() end`);
  }
  const index = [
    'setmetatable(rare, { __index = function(made, name)',
    ...choice,
    'return made[name]',
    'end })',
  ];
  return {
    declarations: [{ text: 'local rare = {}', names: ['rare'], group: undefined }, ...always],
    verb: [...makers, ...index, body].join('\n'),
  };
}

/**
 * Of each declaration its group: its own, or that of all that name it; none of what the verb itself names. A function that
 * several groups name, and nothing else, is of the first of them.
 */
function groupsOf(declarations: readonly Declaration[], verb: string): (string | undefined)[] {
  const order = [...new Set(declarations.flatMap(({ group }) => group ?? []))];
  const askedBy = new Map<string, Set<string | undefined>>();
  const ask = (text: string, group: string | undefined): void => {
    for (const name of namesIn(text)) {
      askedBy.set(name, (askedBy.get(name) ?? new Set()).add(group));
    }
  };
  ask(verb, undefined);
  const namedByVerb = new Set(namesIn(verb));
  const declared = new Set<string>();
  const groups: (string | undefined)[] = [];
  for (const { text, names, group } of declarations.toReversed()) {
    for (const name of names) {
      if (declared.has(name)) throw new Error(`two parts declare ${name}`);
      declared.add(name);
    }
    const asking = new Set(names.flatMap((name) => [...(askedBy.get(name) ?? [])]));
    const isFunction = text.startsWith('local function');
    const theirs = asking.size === 1 || isFunction ? order.find((name) => asking.has(name)) : undefined;
    const isVerbs = names.some((name) => namedByVerb.has(name));
    const its = isVerbs ? undefined : (group ?? (asking.has(undefined) ? undefined : theirs));
    groups.unshift(its);
    ask(text, its);
  }
  return groups;
}

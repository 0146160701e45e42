/** Names in Lua's texts, for what puts scripts together: most of them stand in several scripts, and are read once. */

/** Strings are passed by, and fields (`a.b`; in `a..b` both are names). */
export const stringOrName = /'(?:[^'\\]|\\.)*'|(?<!\w|(?<!\.)\.)[A-Za-z_]\w*/g;

const known = new Map<string, readonly string[]>();

/** The names that a text asks for or declares, each once, keywords of Lua among them. */
export function namesIn(text: string): readonly string[] {
  let names = known.get(text);
  if (names === undefined) {
    names = [...new Set(text.match(stringOrName))].filter((found) => !found.startsWith("'"));
    known.set(text, names);
  }
  return names;
}

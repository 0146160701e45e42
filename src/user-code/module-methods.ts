/** Judge what a module exports by the names of its methods. */

export interface ExpectedMethods {
  /** What the module should be, for the message, such as `extension`. */
  readonly kind: string;
  /** Those that make it one. Each of them may be missing, but not all. */
  readonly names: readonly string[];
}

/** Why an export is not what a setting wants: the end of a sentence that begins with the name of the export. Null if it is. */
export function problemOfMethods(methods: unknown, { kind, names }: ExpectedMethods): string | null {
  if (typeof methods !== 'object' || methods === null) {
    return `is neither a class nor an object: export a class with ${names.join(', ')}, or some of them`;
  }
  const members = methods as Record<string, unknown>;
  for (const name of names) {
    const inScrapy = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (inScrapy !== name && inScrapy in members) return `has ${inScrapy}: call it ${name}`;
    if (members[name] !== undefined && typeof members[name] !== 'function') {
      return `has ${name}, which is no function`;
    }
  }
  if (names.some((name) => name in members)) return null;
  return `is no ${kind}: it has none of ${names.join(', ')}`;
}

/** Checks the export of a module by the names of its methods. */

export interface ExpectedMethods {
  /** What the module should be, for the message, such as `extension`. */
  readonly kind: string;
  /** The names of its methods. Each is optional, but one must be there. */
  readonly names: readonly string[];
}

/**
 * Why an export does not fit a setting, as the end of a sentence that begins with the name of the export; null when it
 * fits.
 */
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

/** Checks the export of a module by the names of its methods. */
import { nearest } from '../settings/nearest.js';

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
  const misspelt = misspeltMethod(members, names);
  if (misspelt !== null) return misspelt;
  if (names.some((name) => name in members)) return null;
  return `is no ${kind}: it has none of ${names.join(', ')}`;
}

/** How Scrapy and the spider of crawlnode call what a module has as `open` and `close`. */
const ofOthers: Readonly<Record<string, string>> = {
  ...{ open_spider: 'open', openSpider: 'open', opened: 'open' },
  ...{ close_spider: 'close', closeSpider: 'close', closed: 'close' },
};

/**
 * A method whose name is nearly that of one that the module lacks, and that its own code does not use, as the end of a sentence; null
 * when there is none.
 */
export function misspeltMethod(module: object, names: readonly string[]): string | null {
  const missing = names.filter((name) => !(name in module));
  const methods = methodsOf(module);
  const code = [...methods.values()].map((method) => Function.prototype.toString.call(method)).join('\n');
  for (const name of methods.keys()) {
    if (names.includes(name) || new RegExp(`[.'"\`]${name}\\b`).test(code)) continue;
    const other = Object.hasOwn(ofOthers, name) ? ofOthers[name]! : null;
    const meant = other !== null && !(other in module) ? other : nearest(name, missing, 1, 2)[0];
    if (meant !== undefined) return `has ${name}, which has no effect; did you mean ${meant}?`;
  }
  return null;
}

/** All methods by name, inherited ones included. */
function methodsOf(module: object): Map<string, unknown> {
  const methods = new Map<string, unknown>();
  for (
    let owner = module;
    owner !== null && owner !== Object.prototype;
    owner = Object.getPrototypeOf(owner)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (typeof value === 'function' && /^(?!constructor$)\w+$/.test(name)) methods.set(name, value);
    }
  }
  return methods;
}

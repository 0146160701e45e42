/**
 * The kinds a setting can be of. Each constructor makes a `Definition`: a zod type, how the kind is written as
 * text (in the environment and after `-s`), and what a refusal says was expected.
 */
import path from 'node:path';
import { z } from 'zod';

/** One setting: its type, default and words. `In` is what may be written, `Out` what the program reads. */
export interface Definition<Out = unknown, In = Out> {
  readonly zod: z.ZodType<Out, In>;
  readonly default: In;
  /** `seconds`, `bytes` …; empty where there is none. */
  readonly unit: string;
  /** One or two sentences for `config/crawlnode.yaml` and the docs. */
  readonly text: string;
  /** Completes "expected …". */
  readonly expects: string;
  /** Parse the value as the environment and `-s` write it; throws an Error with the reason. */
  readonly fromText: (text: string) => unknown;
  /** Never shown. */
  readonly secret: boolean;
  /** Accepted from a migrating project, without effect: why. */
  readonly ignored: string | null;
  /** The feature comes in a later version: a notice is due unless the value is one of these, which ask for nothing. */
  readonly later: { readonly unless: readonly unknown[] } | null;
  /**
   * Other programs use this name in the environment for themselves: a value there that cannot be ours is passed over with a
   * warning, and the next weaker layer counts. Only for settings that decide nothing about what is crawled and where it is kept.
   */
  readonly isCommonName: boolean;
  /** Turn relative paths in the value into absolute ones. */
  readonly resolve: (value: Out, projectDir: string) => Out;
}

/** The words every kind takes. */
interface Words<In> {
  readonly default: In;
  readonly text: string;
  readonly unit?: string;
  readonly isCommonName?: boolean;
  readonly ignored?: string;
  readonly later?: { readonly unless: readonly unknown[] };
}

/** A record without a prototype's traps, of values of one kind. */
export const recordOf = <V extends z.ZodType>(value: V) =>
  z.preprocess(withoutProto, z.record(z.string(), value)) as unknown as z.ZodType<
    Record<string, z.output<V>>,
    Record<string, z.input<V>>
  >;

/** `true` or `false`. */
export function flag(words: Words<boolean>): Definition<boolean> {
  return define(z.boolean(), 'true or false', words, parseBoolean);
}

/** A whole number. */
export function integer(
  words: Words<number> & { readonly min?: number; readonly max?: number },
): Definition<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = words;
  return define(z.int().min(min).max(max), `a whole number ${range(min, max)}`, words, parseNumber);
}

/** A number that may have a fraction. */
export function decimal(
  words: Words<number> & { readonly min?: number; readonly max?: number },
): Definition<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = words;
  return define(z.number().min(min).max(max), `a number ${range(min, max)}`, words, parseNumber);
}

/** A text that is not empty. */
export function text(
  words: Words<string> & { readonly pattern?: RegExp; readonly expects?: string },
): Definition<string> {
  const type = words.pattern ? z.string().regex(words.pattern) : z.string().min(1);
  return define(type, words.expects ?? 'a text', words, (value) => value);
}

/** A text, or null for none. */
export function optionalText(
  words: Omit<Words<string | null>, 'default'> & {
    readonly pattern?: RegExp;
    readonly expects?: string;
    readonly secret?: boolean;
  },
): Definition<string | null> {
  const type = words.pattern ? z.string().regex(words.pattern) : z.string();
  const made = define(
    type.nullable(),
    words.expects ?? 'a text, or null',
    { ...words, default: null },
    (value) => (isNull(value) ? null : value),
  );
  return { ...made, secret: words.secret ?? false };
}

/** A file or folder, or null for none. */
export function optionalPath(words: Omit<Words<string | null>, 'default'>): Definition<string | null> {
  const made = optionalText({ ...words, expects: 'a path, or null' });
  return { ...made, resolve: (value, dir) => (value === null ? null : path.resolve(dir, value)) };
}

/** A file or folder. */
export function filePath(words: Words<string>): Definition<string> {
  return { ...text({ ...words, expects: 'a path' }), resolve: (value, dir) => path.resolve(dir, value) };
}

/** A whole number, or null for none. */
export function optionalInteger(
  words: Omit<Words<number | null>, 'default'> & { readonly min?: number },
): Definition<number | null> {
  const min = words.min ?? 0;
  return define(
    z.int().min(min).nullable(),
    `a whole number ${range(min, Number.MAX_SAFE_INTEGER)}, or null`,
    { ...words, default: null },
    (value) => (isNull(value) ? null : parseNumber(value)),
  );
}

/** One of a few names; `normalize` maps other spellings, such as dotted Python paths, onto them. */
export function choice<const T extends string>(
  words: Words<T> & { readonly of: readonly T[]; readonly normalize?: (value: string) => string },
): Definition<T, string> {
  const { of, normalize = (value) => value } = words;
  const type = z.string().transform(normalize).pipe(z.enum(of)) as unknown as z.ZodType<T, string>;
  return define<T, string>(type, `one of ${of.join(', ')}`, words, (value) => value);
}

/** A list; as text it is JSON or separated by commas. */
export function list<V extends z.ZodType>(
  value: V,
  words: Words<z.input<V>[]> & {
    readonly expects: string;
    readonly item?: (text: string) => unknown;
    readonly resolveEach?: (item: z.output<V>, dir: string) => z.output<V>;
  },
): Definition<z.output<V>[], z.input<V>[]> {
  const type = z.array(value) as unknown as z.ZodType<z.output<V>[], z.input<V>[]>;
  const made = define(type, words.expects, words, (written) => parseList(written, words.item));
  const each = words.resolveEach;
  return each ? { ...made, resolve: (items, dir) => items.map((item) => each(item, dir)) } : made;
}

/** A map; as text it is a JSON object. */
export function map<V extends z.ZodType>(
  value: V,
  words: Words<Record<string, z.input<V>>> & { readonly expects: string },
): Definition<Record<string, z.output<V>>, Record<string, z.input<V>>> {
  return define(recordOf(value), words.expects, words, parseMap);
}

/** A setting of any other zod type. */
export function define<Out, In>(
  type: z.ZodType<Out, In>,
  expects: string,
  words: Words<In>,
  fromText: (text: string) => unknown,
): Definition<Out, In> {
  return {
    zod: type,
    default: words.default,
    unit: words.unit ?? '',
    text: words.text,
    expects,
    fromText,
    secret: false,
    ignored: words.ignored ?? null,
    later: words.later ?? null,
    isCommonName: words.isCommonName ?? false,
    resolve: (value) => value,
  };
}

/** A number as people write it; hex, blanks and `1_000` are no numbers here. */
export function parseNumber(written: string): unknown {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written.trim()) ? Number(written) : written;
}

/** A list as JSON, or with commas; blanks around an entry do not count. */
export function parseList(written: string, item: (text: string) => unknown = (entry) => entry): unknown {
  const trimmed = written.trim();
  if (trimmed.startsWith('[')) return parseJson(trimmed);
  if (trimmed === '') return [];
  return trimmed.split(',').map((entry) => item(entry.trim()));
}

/** A map as a JSON object. */
export function parseMap(written: string): unknown {
  const trimmed = written.trim();
  return trimmed === '' ? {} : parseJson(trimmed);
}

function parseBoolean(written: string): unknown {
  const word = written.trim().toLowerCase();
  if (['true', '1', 'yes', 'on'].includes(word)) return true;
  if (['false', '0', 'no', 'off'].includes(word)) return false;
  return written;
}

function parseJson(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch (error) {
    throw new Error(`is not valid JSON (${(error as Error).message})`);
  }
}

const isNull = (written: string) => ['', 'null', 'none'].includes(written.trim().toLowerCase());

function withoutProto(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'));
}

function range(min: number, max: number): string {
  if (max !== Number.MAX_SAFE_INTEGER) return `from ${min} to ${max}`;
  return min === Number.MIN_SAFE_INTEGER ? 'of any size' : `of at least ${min}`;
}

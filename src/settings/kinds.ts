/**
 * The kinds of settings. Each constructor makes a `Definition`: a zod type, a parser for the text form (used in the
 * environment and with `-s`), and the expectation that an error message states.
 */
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod';

/** One setting. `In` is the type that a user may write, `Out` the type that the program reads. */
export interface Definition<Out = unknown, In = Out> {
  readonly zod: z.ZodType<Out, In>;
  readonly default: In;
  /** `seconds`, `bytes` …; empty for a value without a unit. */
  readonly unit: string;
  /** Completes "expected …". */
  readonly expects: string;
  /** The values that completion in a shell offers; none where the value is not one of a few. */
  readonly offered: readonly string[];
  /** Parse the text form of the value. @throws Error with the reason. */
  readonly fromText: (text: string) => unknown;
  /** Masked in all output. */
  readonly secret: boolean;
  /** Why the setting has no effect, for settings that are accepted only for compatibility; else null. */
  readonly ignored: string | null;
  /**
   * Other programs use this name for an environment variable of their own. An invalid value there is ignored with a
   * warning, and the layer with the next lower precedence applies. Only for settings that affect neither what is crawled
   * nor where it is stored.
   */
  readonly isCommonName: boolean;
  /** Other environment variables that set it, such as `http_proxy`. They take precedence over the one of its own name. */
  readonly environmentNames: readonly string[];
  /** Turn relative paths in the value into absolute ones. */
  readonly resolve: (value: Out, projectDir: string) => Out;
}

/** Options of every kind. */
interface KindOptions<In> {
  readonly default: In;
  readonly unit?: string;
  readonly isCommonName?: boolean;
  readonly environmentNames?: readonly string[];
}

/** A map from strings to values of one type. A key `__proto__` is removed, as it would change the prototype. */
export const recordOf = <V extends z.ZodType>(value: V, key: z.ZodString = z.string()) =>
  z.preprocess(withoutProto, z.record(key, value)) as unknown as z.ZodType<
    Record<string, z.output<V>>,
    Record<string, z.input<V>>
  >;

/** `true` or `false`. */
export function flag(options: KindOptions<boolean>): Definition<boolean> {
  const definition = define(z.boolean(), 'true or false', options, parseBoolean);
  return { ...definition, offered: ['true', 'false'] };
}

/** A whole number. */
export function integer(
  options: KindOptions<number> & { readonly min?: number; readonly max?: number },
): Definition<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options;
  return define(z.int().min(min).max(max), `a whole number ${range(min, max)}`, options, parseNumber);
}

/** A number that may have a fraction. */
export function decimal(
  options: KindOptions<number> & { readonly min?: number; readonly max?: number },
): Definition<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options;
  return define(z.number().min(min).max(max), `a number ${range(min, max)}`, options, parseNumber);
}

/** A non-empty text. */
export function text(
  options: KindOptions<string> & { readonly pattern?: RegExp; readonly expects?: string },
): Definition<string> {
  const type = options.pattern ? z.string().regex(options.pattern) : z.string().min(1);
  return define(type, options.expects ?? 'a text that is not empty', options, (value) => value);
}

/** A text, or null for none. */
export function optionalText(
  options: Omit<KindOptions<string | null>, 'default'> & {
    readonly pattern?: RegExp;
    readonly expects?: string;
    readonly secret?: boolean;
  } = {},
): Definition<string | null> {
  const type = options.pattern ? z.string().regex(options.pattern) : z.string();
  const definition = define(
    type.nullable(),
    options.expects ?? 'a text, or null',
    { ...options, default: null },
    textOrNull,
  );
  return { ...definition, secret: options.secret ?? false };
}

/** A file or folder, or null for none. */
export function optionalPath(): Definition<string | null> {
  const definition = optionalText({ expects: 'a path, or null' });
  return { ...definition, resolve: (value, dir) => (value === null ? null : projectPath(dir, value)) };
}

/** A file or folder. */
export function filePath(options: KindOptions<string>): Definition<string> {
  return { ...text({ ...options, expects: 'a path' }), resolve: (value, dir) => projectPath(dir, value) };
}

/** A whole number, or null for none. */
export function optionalInteger(
  options: Omit<KindOptions<number | null>, 'default'> & { readonly min?: number },
): Definition<number | null> {
  const min = options.min ?? 0;
  return define(
    z.int().min(min).nullable(),
    `a whole number ${range(min, Number.MAX_SAFE_INTEGER)}, or null`,
    { ...options, default: null },
    (value) => (isNull(value) ? null : parseNumber(value)),
  );
}

/**
 * One of a few names; `normalize` maps other spellings, such as dotted Python paths, to these names.
 * @param options `hint`: what to do in place of another value; `offered`: the spellings that completion offers, if not
 * those of `of`
 */
export function choice<const T extends string>(
  options: KindOptions<T> & {
    readonly of: readonly T[];
    readonly normalize?: (value: string) => string;
    readonly hint?: string;
    readonly expects?: string;
    readonly offered?: readonly string[];
  },
): Definition<T, string> {
  const { of, normalize = (value) => value, hint, offered = of } = options;
  const expects = options.expects ?? `one of ${of.join(', ')}${hint === undefined ? '' : ` (${hint})`}`;
  const type = z.string().transform(normalize).pipe(z.enum(of)) as unknown as z.ZodType<T, string>;
  return { ...define<T, string>(type, expects, options, (value) => value), offered };
}

/** A list; as text it is JSON or separated by commas. */
export function list<V extends z.ZodType>(
  value: V,
  options: KindOptions<z.input<V>[]> & {
    readonly expects: string;
    readonly item?: (text: string) => unknown;
    readonly resolveEach?: (item: z.output<V>, dir: string) => z.output<V>;
  },
): Definition<z.output<V>[], z.input<V>[]> {
  const type = z.array(value) as unknown as z.ZodType<z.output<V>[], z.input<V>[]>;
  const definition = define(type, options.expects, options, (text) => parseList(text, options.item));
  const { resolveEach } = options;
  return resolveEach
    ? { ...definition, resolve: (items, dir) => items.map((item) => resolveEach(item, dir)) }
    : definition;
}

/** A map; as text it is a JSON object. `key` is the type of its keys. */
export function map<V extends z.ZodType>(
  value: V,
  options: KindOptions<Record<string, z.input<V>>> & { readonly expects: string; readonly key?: z.ZodString },
): Definition<Record<string, z.output<V>>, Record<string, z.input<V>>> {
  return define(recordOf(value, options.key), options.expects, options, parseMap);
}

/** The path of a module, an object that a program gives in place of one, or null. */
export function moduleOrObject(isObject: (value: unknown) => boolean) {
  const type = z.union([z.string().min(1), z.custom<object>(isObject)]).nullable();
  return define(type, 'the path of a module, or null', { default: null }, textOrNull);
}

/** A setting that is accepted with any value, and does nothing. @param why completes "it has no effect: …" */
export function withoutEffect(value: unknown, why: string): Definition {
  return { ...define(z.unknown(), 'any value', { default: value }, (text) => text), ignored: why };
}

/** A setting of any other zod type. */
export function define<Out, In>(
  type: z.ZodType<Out, In>,
  expects: string,
  options: KindOptions<In>,
  fromText: (text: string) => unknown,
): Definition<Out, In> {
  return {
    zod: type,
    default: options.default,
    unit: options.unit ?? '',
    expects,
    offered: [],
    fromText,
    secret: false,
    ignored: null,
    isCommonName: options.isCommonName ?? false,
    environmentNames: options.environmentNames ?? [],
    resolve: (value) => value,
  };
}

/** Parse a decimal number. Other text, such as hex, `1_000` or an empty text, is returned unchanged. */
export function parseNumber(text: string): unknown {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text;
}

/** Parse a JSON list, or entries separated by commas and trimmed. */
export function parseList(text: string, item: (text: string) => unknown = (entry) => entry): unknown {
  const trimmed = text.trim();
  if (trimmed.startsWith('[')) return parseJson(trimmed);
  if (trimmed === '') return [];
  return trimmed.split(',').map((entry) => item(entry.trim()));
}

/** Parse a JSON object. */
export function parseMap(text: string): unknown {
  const trimmed = text.trim();
  return trimmed === '' ? {} : parseJson(trimmed);
}

/** Parse `true` or `false` and their usual other spellings. Other text is returned unchanged. */
export function parseBoolean(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (['true', '1', 'yes', 'on'].includes(word)) return true;
  if (['false', '0', 'no', 'off'].includes(word)) return false;
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`is not valid JSON (${(error as Error).message})`);
  }
}

/** Whether a text stands for null. */
export const isNull = (text: string) => ['', 'null', 'none'].includes(text.trim().toLowerCase());

const textOrNull = (text: string) => (isNull(text) ? null : text);

function withoutProto(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'));
}

function range(min: number, max: number): string {
  if (max !== Number.MAX_SAFE_INTEGER) return `from ${min} to ${max}`;
  return min === Number.MIN_SAFE_INTEGER ? 'of any size' : `of at least ${min}`;
}

/** The place of a module among others, such as in ITEM_PIPELINES; null switches a module off. */
export const moduleNumber = z.custom<number | null>(
  (value) => value === null || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1000),
  'a whole number from 0 to 1000, or null',
);

/** A path as a setting gives it: relative to the project folder, or with the home folder as `~`, which no shell replaces here. */
export function projectPath(dir: string, given: string): string {
  return path.resolve(dir, given.replace(/^~(?=\/|$)/, os.homedir()));
}

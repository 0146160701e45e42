/** A value of a setting of one's own: read from a text, and checked by its zod type. */
import { isNull, parseBoolean, parseNumber } from '../kinds.js';

/** The part of a zod type that is used. zod 3 and 4 have it, so a project may use its own version. */
export interface FieldType {
  safeParse(value: unknown): FieldResult;
  /** zod 4: `.meta({ secret: true, unit: 'seconds' })`. */
  meta?(): Readonly<Record<string, unknown>> | undefined;
}

/** A zod object. */
export interface ObjectType extends FieldType {
  readonly shape: Readonly<Record<string, FieldType>>;
}

export interface FieldIssue {
  readonly code?: string;
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

type FieldResult =
  | { readonly success: true; readonly data?: unknown; readonly error?: undefined }
  | { readonly success: false; readonly error: { readonly issues: readonly FieldIssue[] } };

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Whether a value is a zod object. */
export function isSchema(value: unknown): value is ObjectType {
  const { shape, safeParse } = (value ?? {}) as Partial<ObjectType>;
  return typeof safeParse === 'function' && typeof shape === 'object' && shape !== null;
}

/** Check a value. What a refinement of the type throws is a problem too. */
export function checkField(type: FieldType, value: unknown): Checked {
  try {
    const result = type.safeParse(value);
    return result.success
      ? { ok: true, value: result.data }
      : { ok: false, problem: issueText(result.error.issues[0]) };
  } catch (error) {
    return { ok: false, problem: problemOfThrown(error) };
  }
}

/** The error of a refinement or a transformation. zod also throws when one returns a promise. */
export function problemOfThrown(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /promise.*synchronous|synchronous.*promise/i.test(text)
    ? 'one of its refinements or transformations is asynchronous; settings need synchronous ones'
    : text;
}

/** What is wrong, and where within the value. */
export function issueText(issue: FieldIssue | undefined): string {
  if (issue === undefined) return 'the schema gives no reason';
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}

/**
 * The value that a text stands for, in the environment or after `-s`: the text itself when the type accepts it, else the
 * number, boolean, null, JSON value or comma-separated list that the type accepts. When it accepts none of them, the value
 * with the right type is returned, so that the error names the limit that it breaks.
 */
export function valueOfText(type: FieldType, text: string): unknown {
  const readings = readingsOf(text);
  const asText = checkField(type, text);
  // z.coerce.boolean() takes any text for true.
  if (asText.ok)
    return typeof asText.value === 'boolean' && readings.flag !== undefined ? readings.flag : text;
  const others = Object.values(readings).filter((value) => value !== undefined);
  const accepted = others.find((value) => checkField(type, value).ok);
  if (accepted !== undefined) return accepted;
  return [text, ...others].find((value) => isOfType(type, value)) ?? text;
}

function isOfType(type: FieldType, value: unknown): boolean {
  try {
    const { error } = type.safeParse(value);
    const [issue] = error?.issues ?? [];
    return (
      issue !== undefined && !(issue.path.length === 0 && /^invalid_(type|union)$/.test(issue.code ?? ''))
    );
  } catch {
    // A refinement threw, and refinements are called with values of the type.
    return true;
  }
}

/** The values that a text may stand for besides itself, in the order of trying. */
function readingsOf(text: string) {
  const trimmed = text.trim();
  const isJson = /^[[{]/.test(trimmed);
  const [number, flag] = [parseNumber(text), parseBoolean(text)];
  const entries = trimmed === '' ? [] : trimmed.split(',').map((entry) => entry.trim());
  return {
    number: typeof number === 'number' ? number : undefined,
    flag: typeof flag === 'boolean' ? flag : undefined,
    nothing: isNull(text) ? null : undefined,
    json: isJson ? jsonOf(trimmed) : undefined,
    list: isJson ? undefined : entries,
    numbers: /^[\d\s,.+-]+$/.test(trimmed) ? entries.map(Number) : undefined,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

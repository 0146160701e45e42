/** Turn a yielded object into an item: validate it with the spider's schema and check that it is JSON. */
import { CrawlnodeError, InvalidRequestError } from '../errors.js';
import { SelectorList } from '../http/markup/selector.js';
import { describe, jsonObjectCopy } from '../http/message/record/json-safe.js';
import type { JsonObject } from '../http/message/record/request-record.js';
import { Response } from '../http/message/response.js';

/**
 * The part of Standard Schema (standardschema.dev) that is used. zod 3.24 and later, valibot and arktype implement it, so a
 * spider may use its own version of any of them.
 */
export interface ItemSchema {
  readonly '~standard': {
    validate(value: unknown): SchemaResult | Promise<SchemaResult>;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/**
 * What a spider with an item schema may yield: `*parse(response): Generator<ItemOf<typeof product> | Request>`, so that
 * the compiler checks each item.
 */
export type ItemOf<Schema extends ItemSchema> = NonNullable<Schema['~standard']['types']>['input'];

type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Validate a yielded object and copy it as JSON does, without undefined fields. With a schema, the item is its output.
 * Returns a promise only where the schema is asynchronous.
 * @throws CrawlnodeError `invalid_item` that names the field.
 */
export function toItem(yielded: object, schema: ItemSchema | undefined): JsonObject | Promise<JsonObject> {
  if (schema === undefined) return jsonItem(yielded);
  const result = schema['~standard'].validate(yielded);
  return result instanceof Promise
    ? result.then((settled) => validItem(yielded, settled))
    : validItem(yielded, result);
}

function validItem(yielded: object, result: SchemaResult): JsonObject {
  if (result.issues === undefined) return jsonItem(result.value);
  const issues = result.issues.map((issue) => issueText(issue, yielded)).join('; ');
  throw invalidItem(`an item breaks the spider's schema: ${issues}${selectionHint(yielded)}`);
}

/** The field, what is wrong with it, and its value. */
function issueText(issue: SchemaIssue, yielded: object): string {
  const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  if (path.length === 0) return issue.message;
  const value = path.reduce<unknown>(
    (within, part) => (within as Record<PropertyKey, unknown> | null | undefined)?.[part],
    yielded,
  );
  return `${path.map(String).join('.')}: ${issue.message} (${valueText(value)})`;
}

const SHOWN_CHARS = 80;

function valueText(value: unknown): string {
  if (value === undefined) return 'it has no value';
  // A selection or a page has its own hint.
  if (typeof value === 'object' && value !== null && !isPlain(value)) return `it is ${describe(value)}`;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A cycle or a bigint: its text is enough.
  }
  text ??= String(value);
  return `it is ${text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text}`;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Array.isArray(value);
}

function jsonItem(value: unknown): JsonObject {
  try {
    return jsonObjectCopy(value, 'item');
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw invalidItem(error.message + selectionHint(value), error);
  }
}

/** A hint for the most common mistake, which is to yield a selection instead of its text. */
function selectionHint(yielded: unknown): string {
  if (yielded instanceof SelectorList) return ' Yield its fields, with .get() or .getAll()';
  for (const [key, value] of Object.entries(yielded ?? {})) {
    if (value instanceof SelectorList) return ` (${key} is a selection: call .get() or .getAll() on it)`;
    if (value instanceof Response) return ` (${key} is a Response: yield the values you need from it)`;
    if (typeof value === 'object' && value !== null && 'cheerio' in value) {
      return ` (${key} is a Cheerio selection: call .text() or .attr() on it)`;
    }
  }
  return '';
}

function invalidItem(message: string, cause?: unknown): CrawlnodeError {
  return new CrawlnodeError('invalid_item', message, { cause });
}

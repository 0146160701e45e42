/** What a callback yields becomes an item: checked by the spider's schema, and made of nothing that JSON cannot hold. */
import { CrawlnodeError, InvalidRequestError } from '../errors.js';
import { SelectorList } from '../http/markup/selector.js';
import { jsonObjectCopy } from '../http/message/json-safe.js';
import type { JsonObject } from '../http/message/request-record.js';
import { Response } from '../http/message/response.js';

/**
 * The part of the Standard Schema (standardschema.dev) that is used: zod 3.24 and later, valibot and arktype have it.
 * So a spider may bring any version of its own.
 */
export interface ItemSchema {
  readonly '~standard': {
    validate(value: unknown): SchemaResult | Promise<SchemaResult>;
  };
}

type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Check a yielded object and copy it as JSON would: a field of undefined is dropped. With a schema its output counts.
 * A promise only where the schema is asynchronous.
 * @throws CrawlnodeError `invalid_item` naming the field.
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
  const issues = result.issues.map(issueText).join('; ');
  throw invalid(`an item breaks the spider's schema: ${issues}${forgottenCall(yielded)}`);
}

function issueText(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  return path.length === 0 ? issue.message : `${path.join('.')}: ${issue.message}`;
}

function jsonItem(value: unknown): JsonObject {
  try {
    return jsonObjectCopy(value, 'item');
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw invalid(error.message + forgottenCall(value), error);
  }
}

/** The commonest mistake: a selection is yielded where its text was meant. */
function forgottenCall(yielded: unknown): string {
  if (yielded instanceof SelectorList) return ' Yield its fields, with .get() or .getAll()';
  for (const [key, value] of Object.entries(yielded ?? {})) {
    if (value instanceof SelectorList) return ` (${key} is a selection: call .get() or .getAll() on it)`;
    if (value instanceof Response) return ` (${key} is a Response: yield what you take from it)`;
    if (typeof value === 'object' && value !== null && 'cheerio' in value) {
      return ` (${key} is a Cheerio selection: call .text() or .attr() on it)`;
    }
  }
  return '';
}

function invalid(message: string, cause?: unknown): CrawlnodeError {
  return new CrawlnodeError('invalid_item', message, { cause });
}

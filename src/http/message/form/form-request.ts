/** The request that submits a form of a page, as a browser would send it. */
import { createHash } from 'node:crypto';
import { InvalidRequestError } from '../../../errors.js';
import { type Field, type FormChoice, type FormPage, submissionOf } from '../../markup/html-form.js';
import { checkOptionNames, type RequestOptions } from '../request-options.js';

type FieldValue = string | number | boolean;

/** Options of `Request.fromForm`: those of a request, and which form is filled in with what. */
export interface FormRequestOptions
  extends FormChoice,
    Omit<RequestOptions, 'method' | 'body' | 'json' | 'formdata'> {
  /** Values to fill in, by field name. They replace those of the page; null leaves a field out, a list repeats it. */
  readonly formdata?: Readonly<Record<string, FieldValue | readonly FieldValue[] | null>>;
}

/**
 * URL and options of the request.
 * @throws InvalidRequestError when the page has no such form or button
 */
export function formRequest(
  page: FormPage,
  { selector, click, formdata = {}, ...options }: FormRequestOptions,
): { readonly url: string; readonly options: RequestOptions } {
  checkOptionNames(options, ['selector', 'click', 'formdata']);
  const { url, method, fields, isMultipart } = submissionOf(page, {
    ...(selector !== undefined && { selector }),
    ...(click !== undefined && { click }),
  });
  const filled = fillIn(fields, formdata);
  if (!isMultipart) return { url, options: { ...options, method, formdata: filled } };
  const { body, type } = multipart(filled);
  const headers = { 'Content-Type': type, ...options.headers };
  return { url, options: { ...options, method, body, headers } };
}

/** As in Scrapy, given values come after the fields of the page. */
function fillIn(fields: readonly Field[], formdata: NonNullable<FormRequestOptions['formdata']>): Field[] {
  if (typeof formdata !== 'object' || formdata === null) {
    throw new InvalidRequestError('formdata is no object of values by field name.');
  }
  const given = Object.entries(formdata).flatMap(([name, value]): Field[] => {
    const values = Array.isArray(value) ? (value as readonly FieldValue[]) : [value as FieldValue | null];
    return values.filter((one) => one !== null).map((one) => [name, textOf(name, one)]);
  });
  return [...fields.filter(([name]) => !Object.hasOwn(formdata, name)), ...given];
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  throw new InvalidRequestError(`formdata.${name} is not text, a number, a boolean, null or a list of them.`);
}

/** The boundary comes from the fields, so that the same form has the same fingerprint. */
function multipart(fields: readonly Field[]): { readonly body: string; readonly type: string } {
  const boundary = `----form${createHash('sha1').update(JSON.stringify(fields)).digest('hex')}`;
  const parts = fields.map(([name, value]) => {
    const escaped = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
    return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`;
  });
  return { body: `${parts.join('')}--${boundary}--\r\n`, type: `multipart/form-data; boundary=${boundary}` };
}

/**
 * The validators of a page (RFC 9110 §8.8): ETag and Last-Modified. A later request names them, and the server answers 304
 * where the page has not changed since.
 */
import { type Headers, headerOf } from './message/headers.js';

/** At least one of them is not null. Each is sent back as it came. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Longer ones are not stored. */
const MAX_LENGTH = 1_024;
/** What a header can carry. Checked again when they are read, since other programs can write to the store. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** The validators that the headers of an answer give; null for none, and where it says `no-store`. */
export function validatorsOf(headers: Headers): Validators | null {
  const control = headers['cache-control'];
  if (control !== undefined && /\bno-store\b/i.test(String(control))) return null;
  return someOf(headerOf(headers, 'etag'), headerOf(headers, 'last-modified'));
}

/** The stored form: JSON of `[ETag, Last-Modified]`. */
export function encodeValidators({ etag, lastModified }: Validators): string {
  return JSON.stringify([etag, lastModified]);
}

/** Read the stored form; null for one that could not be sent. */
export function decodeValidators(text: string): Validators | null {
  try {
    const [etag, lastModified] = JSON.parse(text) as unknown[];
    return someOf(etag, lastModified);
  } catch {
    return null;
  }
}

/** The headers that ask for the page only if it has changed. */
export function conditionalHeaders({ etag, lastModified }: Validators): Readonly<Record<string, string>> {
  return {
    ...(etag !== null && { 'If-None-Match': etag }),
    ...(lastModified !== null && { 'If-Modified-Since': lastModified }),
  };
}

function someOf(etag: unknown, lastModified: unknown): Validators | null {
  const found = { etag: usable(etag), lastModified: usable(lastModified) };
  return found.etag === null && found.lastModified === null ? null : found;
}

function usable(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MAX_LENGTH && SENDABLE.test(value) ? value : null;
}

/**
 * Decodes the content encodings of a body, with a limit on the size. got's own decompression is not used: it has no
 * limit, and returns encoded bytes for an encoding that it does not know.
 */
import { DownloadError } from '../download-error.js';
import { BodyBytes } from './body-bytes.js';
import { codecFor, isKnownEncoding } from './codecs.js';
import { inflateLeadingMembers } from './gunzip-ignoring-rest.js';
import { flushOf, type InflateOptions, type InflateWatch, inflateInto } from './inflate.js';

/**
 * Smaller bodies are decoded synchronously, which is cheaper than the thread pool, unless they inflate to more than
 * `SYNC_OUTPUT_BYTES`: that would block the main loop, and the budget of the node would not count it.
 */
const SYNC_BYTES = 64 * 1024;
const SYNC_OUTPUT_BYTES = 1024 * 1024;
/** Up to this decoded size any ratio is allowed, beyond it `MAX_RATIO`. Markup rarely exceeds 50, a bomb has 1,000. */
const FREE_BYTES = 4 * 1024 * 1024;
const MAX_RATIO = 200;
const MAX_STACKED = 5;

export interface DecodeOptions {
  /** Limit on the decoded size; 0 for none. */
  readonly maxBytes: number;
  /** The rest is dropped when so much is decoded. */
  readonly firstBytes?: number;
  /** `bytes` are only the beginning of the body. They must hold `firstBytes`, or are `bad_encoding`. */
  readonly isBeginning?: boolean;
  /** A body that ends too early gives what it holds, instead of `body_truncated`. */
  readonly mayBePartial: boolean;
  readonly watch: InflateWatch;
}

/**
 * @param codings the `content-encoding` of the response and the codings of its `transfer-encoding`, in the order in which
 *   they were applied. They are decoded in reverse order (RFC 9110 §8.4).
 * @returns the decoded bytes, or a promise of them when the thread pool decodes them.
 * @throws DownloadError `bad_encoding`, `too_large` or `body_truncated`, also through the promise.
 */
export function decodeContent(
  bytes: Buffer,
  codings: string,
  options: DecodeOptions,
): Buffer | Promise<Buffer> {
  const encodings = codings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > MAX_STACKED)
    throw new DownloadError('bad_encoding', `${encodings.length} stacked encodings`);
  for (const name of encodings) {
    if (!isKnownEncoding(name))
      throw new DownloadError('bad_encoding', `the content encoding "${printable(name)}" is not known`);
  }
  // An empty body is valid with any encoding.
  if (encodings.length === 0 || bytes.length === 0) return bytes;
  const limit = limitFor(bytes.length, options);
  encodings.reverse();
  if (options.firstBytes !== undefined) return decodeBeginning(bytes, encodings, limit, options);
  const isSmall = bytes.length <= SYNC_BYTES && encodings.length === 1;
  const decoded = isSmall ? decodeSync(bytes, encodings[0]!, limit) : null;
  return decoded ?? decodeAll(bytes, encodings, limit);
}

interface Limit extends InflateOptions {
  /** What the output is when it exceeds `maxBytes`. */
  readonly says: string;
}

function limitFor(wireBytes: number, { maxBytes, mayBePartial, watch }: DecodeOptions): Limit {
  const byRatio = Math.max(FREE_BYTES, wireBytes * MAX_RATIO);
  const bySize = maxBytes > 0 && maxBytes <= byRatio;
  const bytes = bySize ? maxBytes : byRatio;
  const says = bySize ? `more than ${bytes} bytes` : `more than ${bytes} bytes from ${wireBytes}`;
  return { maxBytes: bytes, stopAtBytes: Number.POSITIVE_INFINITY, mayBePartial, watch, says };
}

/** @returns null when it inflates to so much that the thread pool should decode it. */
function decodeSync(bytes: Buffer, name: string, limit: Limit): Buffer | Promise<Buffer> | null {
  const { maxBytes, mayBePartial } = limit;
  const codec = codecFor(name, bytes);
  const maxOutputLength = Math.min(maxBytes, SYNC_OUTPUT_BYTES);
  try {
    return codec.sync(bytes, { maxOutputLength, ...flushOf(codec, mayBePartial) });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return isLarge && maxOutputLength < maxBytes ? null : recoverFromError(error, bytes, name, limit);
  }
}

async function decodeAll(bytes: Buffer, encodings: readonly string[], limit: Limit): Promise<Buffer> {
  let decoded = bytes;
  for (const name of encodings) {
    if (decoded.length === 0) return decoded;
    decoded = await decodeOne(decoded, name, limit);
  }
  return decoded;
}

/**
 * Decode only the beginning of a body. Of a stacked encoding only the beginning of each layer is decoded: more of it than
 * is needed of the last one, since data may be a little longer encoded than decoded.
 */
async function decodeBeginning(
  bytes: Buffer,
  encodings: readonly string[],
  limit: Limit,
  { firstBytes = 0, isBeginning = false }: DecodeOptions,
): Promise<Buffer> {
  let decoded = bytes;
  let isCut = isBeginning;
  for (const [n, name] of encodings.entries()) {
    if (decoded.length === 0) return decoded;
    const stopAtBytes = n === encodings.length - 1 ? firstBytes : encodedBytesFor(firstBytes);
    const mayBePartial = isCut || limit.mayBePartial;
    decoded = await decodeOne(decoded, name, { ...limit, stopAtBytes, mayBePartial });
    const isWhole = decoded.length < stopAtBytes;
    if (isCut && isWhole && n === encodings.length - 1)
      throw new DownloadError('bad_encoding', `the ${name} body is longer encoded than decoded`);
    isCut ||= !isWhole;
  }
  return decoded;
}

/** How many encoded bytes are enough for the first `bytes` of a body. */
export function encodedBytesFor(bytes: number): number {
  return 2 * bytes;
}

async function decodeOne(bytes: Buffer, name: string, limit: Limit): Promise<Buffer> {
  const output = new BodyBytes();
  try {
    await inflateInto(output, bytes, codecFor(name, bytes), limit);
    return output.take();
  } catch (error) {
    output.release();
    return recoverFromError(error, bytes, name, limit);
  }
}

/** Decode gzip data that is followed by other data; any other error is final. @throws DownloadError */
async function recoverFromError(error: unknown, bytes: Buffer, name: string, limit: Limit): Promise<Buffer> {
  const { code } = error as NodeJS.ErrnoException;
  // One byte of other data is too short to be no gzip header: zlib then says that the body is cut off, as of one that is.
  const mayHaveMore = code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR';
  if (!mayHaveMore || !name.endsWith('gzip')) throw decodingError(error, name, limit);
  const output = new BodyBytes();
  try {
    const members = { ...limit, mayBePartial: false };
    if (await inflateLeadingMembers(output, bytes, members)) return output.take();
  } catch (second) {
    throw decodingError(second, name, limit);
  } finally {
    output.release();
  }
  throw decodingError(error, name, limit);
}

function decodingError(error: unknown, name: string, limit: Limit): DownloadError {
  if (error instanceof DownloadError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_BUFFER_TOO_LARGE') {
    return new DownloadError('too_large', `the ${name} body inflates to ${limit.says}`);
  }
  if (code === 'Z_BUF_ERROR') {
    return new DownloadError('body_truncated', `the ${name} body ends too early`, { cause: error });
  }
  return new DownloadError('bad_encoding', `the body is not valid ${name} (${message})`, { cause: error });
}

function printable(name: string): string {
  return name.slice(0, 40).replace(/[^\x20-\x7e]/g, '?');
}

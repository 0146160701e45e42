/** Decodes the bytes of a page to text. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { chooseCharset } from './choose-charset.js';

/** The characters of windows-1252 at 0x80 to 0x9F. The five unassigned bytes are control characters (WHATWG Encoding). */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const decoders = new Map<string, TextDecoder>();

/**
 * The text of a body. Its encoding is taken from the first of these that is present: a byte order mark, the Content-Type
 * header, a declaration in the first 4,096 bytes. The default is UTF-8. An unknown label is ignored, and an invalid byte
 * becomes U+FFFD, so this never throws. The byte order mark is removed.
 *
 * Source: w3lib's `html_to_unicode`; decoders as in WHATWG's Encoding Standard.
 * @param contentType the header as received, or null without one.
 */
export function decodeBody(bytes: Buffer, contentType: string | null): string {
  return new BodyText(bytes, contentType).whole;
}

/** The text of a body, decoded on first use. */
export class BodyText {
  /** Without a byte order mark. */
  readonly #bytes: Buffer;
  readonly #decoder: string;
  #whole: string | undefined;

  /** @param guesses a body that names no encoding and is not UTF-8 is taken for windows-1252, as Scrapy and browsers do */
  constructor(body: Buffer, contentType: string | null, guesses = false) {
    const { decoder, markBytes, isDefault } = chooseCharset(body, contentType);
    this.#bytes = body.subarray(markBytes);
    this.#decoder = guesses && isDefault && !isUtf8(body) && !isMostlyUtf8(body) ? 'windows-1252' : decoder;
  }

  get whole(): string {
    this.#whole ??= decode(this.#bytes, this.#decoder);
    return this.#whole;
  }

  /** The bytes if the encoding is UTF-8, else the text. */
  get utf8OrText(): Buffer | string {
    return this.#decoder === 'utf-8' ? this.#bytes : this.whole;
  }
}

/** Characters beyond ASCII by which `isMostlyUtf8` judges a body, which may be a large file of any kind. */
const JUDGED_CHARACTERS = 10_000;

/** A page of UTF-8 with a few bad bytes, such as a cut one, stays UTF-8: most of its other characters are valid. */
function isMostlyUtf8(bytes: Buffer): boolean {
  let valid = 0;
  let invalid = 0;
  for (let at = 0; at < bytes.length && valid + invalid < JUDGED_CHARACTERS; at += 1) {
    const byte = bytes[at]!;
    if (byte < 0x80) continue;
    const following = byte < 0xc2 || byte > 0xf4 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    let read = 0;
    while (read < following && ((bytes[at + read + 1] ?? 0) & 0xc0) === 0x80) read += 1;
    if (following > 0 && read === following) valid += 1;
    else invalid += 1;
    at += read;
  }
  return valid > invalid;
}

function decode(bytes: Buffer, decoder: string): string {
  if (decoder === 'utf-8') return bytes.toString('utf8');
  if (decoder === 'windows-1252') return decodeWindows1252(bytes);
  if (decoder === 'utf-32be' || decoder === 'utf-32le') return decodeUtf32(bytes, decoder === 'utf-32le');
  let textDecoder = decoders.get(decoder);
  if (!textDecoder) {
    textDecoder = new TextDecoder(decoder, { ignoreBOM: true });
    decoders.set(decoder, textDecoder);
  }
  return textDecoder.decode(bytes);
}

/**
 * TextDecoder of Node 20 reads windows-1252 as ISO 8859-1, which turns quotes into control characters. The text is not built
 * by replacing these one by one: a page of millions of them would take gigabytes.
 */
function decodeWindows1252(bytes: Buffer): string {
  const latin = bytes.toString('latin1');
  if (!/[\x80-\x9f]/.test(latin)) return latin;
  const units = new Utf16Text(bytes.length);
  for (const byte of bytes)
    units.add(byte >= 0x80 && byte <= 0x9f ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte);
  return units.toString();
}

/** TextDecoder has no UTF-32. */
function decodeUtf32(bytes: Buffer, littleEndian: boolean): string {
  const units = new Utf16Text(bytes.length / 2 + 1);
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = littleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    const valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    if (valid && point > 0xffff) {
      units.add(0xd800 + ((point - 0x10000) >> 10));
      units.add(0xdc00 + (point & 0x3ff));
    } else units.add(valid ? point : 0xfffd);
  }
  if (bytes.length % 4 !== 0) units.add(0xfffd);
  return units.toString();
}

/** A text that is built from its UTF-16 units without an object for each. */
class Utf16Text {
  readonly #bytes: Buffer;
  #length = 0;

  constructor(maxUnits: number) {
    this.#bytes = Buffer.allocUnsafe(Math.ceil(maxUnits) * 2);
  }

  add(unit: number): void {
    this.#bytes[this.#length] = unit & 0xff;
    this.#bytes[this.#length + 1] = unit >> 8;
    this.#length += 2;
  }

  toString(): string {
    return this.#bytes.toString('utf16le', 0, this.#length);
  }
}

/** Chooses the charset of a page: byte order mark, Content-Type header, declaration in the page, or UTF-8. */
import { resolveLabel } from './charset-labels.js';
import { declaredCharset, headerCharset } from './declared-charset.js';

/** Byte order marks. The mark of UTF-32LE begins with that of UTF-16LE, so it is tried first. */
const MARKS: readonly (readonly [mark: Buffer, decoder: string])[] = [
  [Buffer.from([0x00, 0x00, 0xfe, 0xff]), 'utf-32be'],
  [Buffer.from([0xff, 0xfe, 0x00, 0x00]), 'utf-32le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
];

/** The encoding of a body. */
export interface ChosenCharset {
  /** Label of a decoder (`decode-body.ts`). */
  readonly decoder: string;
  /** Length of the byte order mark; 0 without one. */
  readonly markBytes: number;
  /** Nothing names an encoding. */
  readonly isDefault: boolean;
}

/**
 * The encoding of a body. It is taken from the first of these that is present: a byte order mark, the Content-Type header, a
 * declaration in the first 4,096 bytes. The default is UTF-8. An unknown label is ignored.
 *
 * Source: w3lib's `html_to_unicode`.
 * @param contentType the header as received, or null without one.
 */
export function chooseCharset(body: Buffer, contentType: string | null): ChosenCharset {
  const found = MARKS.find(([mark]) => body.subarray(0, mark.length).equals(mark));
  if (found !== undefined) return { decoder: found[1], markBytes: found[0].length, isDefault: false };
  const declared = declaredDecoder(body, contentType);
  return { decoder: declared ?? 'utf-8', markBytes: 0, isDefault: declared === null };
}

function declaredDecoder(bytes: Buffer, contentType: string | null): string | null {
  const fromHeader = decoderOf(headerCharset(contentType));
  if (fromHeader) return fromHeader === 'utf-16' ? 'utf-16be' : fromHeader;
  const declared = decoderOf(declaredCharset(bytes));
  // A declaration that is readable as ASCII cannot be in UTF-16 (HTML, "prescan", step 4).
  return declared?.startsWith('utf-16') ? 'utf-8' : declared;
}

function decoderOf(label: string | null): string | null {
  return label === null ? null : resolveLabel(label);
}

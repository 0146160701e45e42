/** The type of a file by its bytes, whatever its server or its name says. */

/** Media types by content; a pattern may end in `/*`. */
export type TypePattern = string;

/** A file that is wanted, or why it is not. */
export type Judged = { readonly extension: string | null } | { readonly refused: string };

/** Judges the body of a file. `extension` is null where the URL says it. */
export type Judge = (body: Buffer) => Promise<Judged>;

/** @param types FILES_TYPES; empty for all */
export function fileJudge(types: readonly TypePattern[]): Judge {
  return async (body) => {
    if (types.length > 0 && !matches(await mediaType(body), types)) return { refused: 'other_type' };
    return { extension: null };
  };
}

/** An image that is smaller is refused. */
export interface ImageLimits {
  /** In pixels; 0 for no limit. */
  readonly minWidth: number;
  readonly minHeight: number;
}

/**
 * How much of a JPEG is searched for its size. The segments before the size may hold megabytes, such as a depth map, but a segment
 * may also be four bytes long, and image-size visits each.
 */
const JPEG_HEADER_BYTES = 4 * 1024 * 1024;

/** Raster images only: an SVG is a document, and may hold scripts. */
export function imageJudge({ minWidth, minHeight }: ImageLimits): Judge {
  return async (body) => {
    const [{ fileTypeFromBuffer }, { imageSize }] = await Promise.all([
      import('file-type'),
      import('image-size'),
    ]);
    const type = await fileTypeFromBuffer(body);
    if (type === undefined || !type.mime.startsWith('image/')) return { refused: 'not_an_image' };
    let size: { readonly width: number; readonly height: number };
    try {
      // image-size reads the ArrayBuffer behind a view, also past its end: a copy has nothing there.
      size = imageSize(
        new Uint8Array(type.mime === 'image/jpeg' ? body.subarray(0, JPEG_HEADER_BYTES) : body),
      );
    } catch {
      return { refused: 'not_an_image' };
    }
    if (!(size.width > 0 && size.height > 0)) return { refused: 'not_an_image' };
    if (size.width < minWidth || size.height < minHeight) return { refused: 'too_small' };
    return { extension: type.ext };
  };
}

/** Extensions that an image in the store can have, the most frequent first. */
export const imageExtensions = [
  'jpg',
  'png',
  'webp',
  'gif',
  'avif',
  'bmp',
  'tif',
  'ico',
  'heic',
  'jxl',
  'jp2',
  'psd',
];

/** The media type of a body, by content. Text has none but `text/html` and `text/plain`. */
export async function mediaType(body: Buffer): Promise<string> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(body))?.mime ?? textType(body);
}

const SNIFF_BYTES = 4096;

/** Text has no signature. */
function textType(body: Buffer): string {
  const beginning = body.toString('latin1', 0, SNIFF_BYTES);
  if (/[\x00-\x08\x0e-\x1a]/.test(beginning)) return 'application/octet-stream';
  return /^(?:\xef\xbb\xbf)?\s*</.test(beginning) && /<(?:!doctype html|html|head|body)\b/i.test(beginning)
    ? 'text/html'
    : 'text/plain';
}

function matches(type: string, patterns: readonly TypePattern[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern.toLowerCase(),
  );
}

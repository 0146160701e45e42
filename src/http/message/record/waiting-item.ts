/**
 * An item that waits for its files. The request that fetches the next one carries it in its record, so that an item and its
 * files survive the node. Other programs can write to the store, so what is read is checked: no path of it leaves the folder
 * of the files.
 */
import * as z from 'zod';
import type { FileResult, JsonObject, WaitingItem } from './request-record.js';

const text = z.string().max(1024 * 1024);

/** Parts with `/` between them. None is empty, begins with a dot, or has a backslash or control character. */
const STORED_PATH = /^(?!\.)[^/\\\x00-\x1f\x7f]+(?:\/(?!\.)[^/\\\x00-\x1f\x7f]+)*$/;
/** The longest key of a bucket has 1,024 bytes: 600 of them for this, the others for its folder and the name of the host. */
const MAX_PATH_BYTES = 600;
const MAX_HOST_BYTES = 256;
/** Of the name of a file on most disks. */
const MAX_PART_BYTES = 255;

/** Whether a path, still without the name of a host, stays below FILES_STORE, on a disk and in a bucket. */
export function isFilePath(path: string, maxBytes: number = MAX_PATH_BYTES): boolean {
  return (
    STORED_PATH.test(path) &&
    Buffer.byteLength(path) <= maxBytes &&
    path.split('/').every((part) => Buffer.byteLength(part) <= MAX_PART_BYTES)
  );
}

const fileResult = z.strictObject({
  url: text,
  path: z
    .string()
    .refine((path) => isFilePath(path, MAX_PATH_BYTES + MAX_HOST_BYTES))
    .nullable(),
  checksum: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .nullable(),
  status: z.enum(['downloaded', 'uptodate', 'failed']),
  reason: z
    .string()
    .regex(/^\w{1,64}$/)
    .optional(),
}) as unknown as z.ZodType<FileResult>;

/** Keys: d id, s pipeline, i item, r results. */
export const storedWaitingItem = z.strictObject({
  d: z.string().regex(/^[0-9a-f]{40}-[1-9][0-9]{0,9}$/),
  s: text,
  i: z.custom<JsonObject>((item) => typeof item === 'object' && item !== null && !Array.isArray(item)),
  r: z.array(fileResult),
});

/** The JSON that `storedWaitingItem` reads. */
/** As the record holds it. */
export function encodeWaitingItem({ id, pipeline, item, files }: WaitingItem): JsonObject {
  return { d: id, s: pipeline, i: item, r: files as unknown as JsonObject[] };
}

export function decodeWaitingItem({ d, s, i, r }: z.infer<typeof storedWaitingItem>): WaitingItem {
  return { id: d, pipeline: s, item: i, files: r };
}

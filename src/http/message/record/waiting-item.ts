/**
 * An item that waits for its files. The request that fetches the next one carries it in its record, so that an item and its
 * files survive the node. Other programs can write to the store, so what is read is checked: no path of it leaves the folder
 * of the files.
 */
import { z } from 'zod';
import type { FileResult, JsonObject, WaitingItem } from './request-record.js';

const text = z.string().max(1024 * 1024);

/** As `filePath` of the pipelines makes it: perhaps a host, then `full/`, 40 hex digits, an extension. */
const STORED_PATH = /^(?:(?!\.)[\w.-]{1,255}\/)?full\/[0-9a-f]{40}(?:\.[a-z0-9]{1,10})?$/;

const fileResult = z.strictObject({
  url: text,
  path: z.string().regex(STORED_PATH).nullable(),
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
export function encodeWaitingItem({ id, pipeline, item, files }: WaitingItem): string {
  return JSON.stringify({ d: id, s: pipeline, i: item, r: files });
}

export function decodeWaitingItem({ d, s, i, r }: z.infer<typeof storedWaitingItem>): WaitingItem {
  return { id: d, pipeline: s, item: i, files: r };
}

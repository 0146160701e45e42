/** The paths of the files of a feed in batches. */

/** `%(batch_id)d` in a name, perhaps with a width that is filled with zeros, as Python has it. */
export const BATCH_ID = /%\(batch_id\)(\d*)d/g;

/** The path of one file. */
export function batchPath(template: string, batch: number): string {
  return template.replace(BATCH_ID, (_, width: string) =>
    String(batch).padStart(Number(width), width.startsWith('0') ? '0' : ' '),
  );
}

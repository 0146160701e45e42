/** A list with commas that may also be given by repeating its option: an argument parser for commander. */
export function commaList(text: string, before?: string): string {
  return before === undefined ? text : `${before},${text}`;
}

/** Formats numbers, names and shell arguments for output. */

/** A number with commas: `1,234,567`. */
export function n(value: number): string {
  return value.toLocaleString('en');
}

/** A count with its noun: `1 node`, `2 nodes`. */
export function howMany(count: number, noun: string): string {
  return `${n(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/** The name of a crawl: `shop`, or `shop@may` with a job. */
export function crawlName({ spider, job }: { readonly spider: string; readonly job: string | null }): string {
  return job === null ? spider : `${spider}@${job}`;
}

/** An argument, quoted for a shell when necessary. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Numbers, names and arguments as the commands say them. */

/** A number with commas: `1,234,567`. */
export function n(value: number): string {
  return value.toLocaleString('en');
}

/** So many of something: `1 node`, `2 nodes`. */
export function howMany(count: number, noun: string): string {
  return `${n(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/** A crawl as its user names it: `shop`, or `shop@may` with a job. */
export function crawlName({ spider, job }: { readonly spider: string; readonly job: string | null }): string {
  return job === null ? spider : `${spider}@${job}`;
}

/** An argument as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

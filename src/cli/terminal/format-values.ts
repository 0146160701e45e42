/** Formats names and shell arguments for output. */

/** The name of a crawl: `shop`, or `shop@may` with a job. */
export function crawlName({ spider, job }: { readonly spider: string; readonly job: string | null }): string {
  return job === null ? spider : `${spider}@${job}`;
}

/** An argument, quoted for a shell when necessary. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * A crawl in messages: its name, and the commands that a message suggests. Every error message needs this, so it is separate
 * from `crawl-arguments.ts`, which loads the settings module.
 */

/** The name of a crawl: `shop`, or `shop@may` with a job. */
export function crawlName({ spider, job }: { readonly spider: string; readonly job: string | null }): string {
  return job === null ? spider : `${spider}@${job}`;
}

/** An argument, quoted for a shell when necessary. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Replace SPIDER in suggested commands. The frontier does not know the command line, so its messages say
 * `"crawlnode reset SPIDER"`.
 * @param crawl the result of `crawlArguments`; null leaves the text unchanged
 */
export function fillCrawlArguments(text: string, crawl: string | null): string {
  return crawl === null ? text : text.replace(/(?<="crawlnode [a-z]+ )SPIDER\b/g, () => crawl);
}

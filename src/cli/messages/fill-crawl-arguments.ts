/**
 * Fills the crawl into commands that a message suggests. Every error message needs this, so it is separate from
 * `crawl-arguments.ts`, which loads the settings module.
 */

/**
 * Replace SPIDER in suggested commands. The frontier does not know the command line, so its messages say
 * `"crawlnode reset SPIDER"`.
 * @param crawl the result of `crawlArguments`; null leaves the text unchanged
 */
export function fillCrawlArguments(text: string, crawl: string | null): string {
  return crawl === null ? text : text.replace(/(?<="crawlnode [a-z]+ )SPIDER\b/g, () => crawl);
}

/**
 * Commands within messages. This file is apart from `crawl-arguments.ts`, which loads the settings, because every error needs it.
 */

/**
 * Put the crawl into the commands that a message suggests. The frontier does not know the command line, so it writes
 * `"crawlnode reset SPIDER"`.
 * @param crawl what `crawlArguments` returned; null leaves the text unchanged
 */
export function fillCrawlArguments(text: string, crawl: string | null): string {
  return crawl === null ? text : text.replace(/(?<="crawlnode [a-z]+ )SPIDER\b/g, () => crawl);
}

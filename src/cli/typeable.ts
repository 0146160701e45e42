/** Commands within messages. They are apart from `crawl-arguments.ts` since every error needs them, and that loads the settings. */

/**
 * A text with the crawl in its commands: the frontier knows of no command line, and says `"crawlnode reset SPIDER"`.
 * @param crawl as `crawlArguments` has it; null leaves the text as it is
 */
export function typeable(text: string, crawl: string | null): string {
  return crawl === null ? text : text.replace(/(?<="crawlnode [a-z]+ )SPIDER\b/g, () => crawl);
}

/** Where the items of a feed can go: to files of this machine. Other places that Scrapy knows are refused by name. */

/**
 * Why a place for items, as `-o` or FEEDS names it, cannot be written; null when it is the path of a file. Without this
 * check `s3://bucket/items.jsonl` would make a folder `s3:`, and `%(time)s` would stand in the name of the file.
 */
export function feedPlaceProblem(place: string): string | null {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1]?.toLowerCase();
  if (scheme === 'file') return 'it is a URL; give the path alone';
  if (scheme !== undefined) {
    return `items go to files of this machine, not to ${scheme}; write a file, and copy it when the crawl has ended`;
  }
  const parameter = /%\(\w+\)[a-z]/i.exec(place)?.[0];
  if (parameter === undefined) return null;
  return `${parameter} is not replaced in the name of a file; give the name itself, such as items-$(date +%F).jsonl in a shell, or begin another --job for each file`;
}

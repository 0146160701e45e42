// The verdict of the demo, as a pure function of three independent records: the pages the site has, the requests the
// site answered, and the lines of the items file.

/**
 * @param {{
 *   expected: readonly string[],
 *   log: readonly { url: string, status: number }[],
 *   items: readonly { url: string, node: string }[],
 * }} records `expected` are the canonical URLs of all pages; an item's `url` may spell its query in any order.
 */
export function compare({ expected, log, items }) {
  const known = new Set(expected);
  const fetched = countBy(log.filter(({ status }) => status === 200).map(({ url }) => normal(url)));
  const written = countBy(items.map(({ url }) => normal(url)));
  return {
    pages: [...fetched.keys()].filter((url) => known.has(url)).length,
    items: items.length,
    nodes: [...countBy(items.map(({ node }) => node))].map(([node, pages]) => ({ node, pages })),
    /** Never answered by the site, or without a line in the items file. */
    missing: expected.filter((url) => !fetched.has(url) || !written.has(url)),
    /** More than one item. A page may be downloaded again after the death of its node, but is committed once. */
    twice: expected.filter((url) => written.get(url) > 1),
    /** Items of pages that the site does not have. */
    unknown: [...written.keys()].filter((url) => !known.has(url)),
  };
}

function countBy(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The query in one order, no fragment. */
function normal(text) {
  const url = new URL(text);
  url.searchParams.sort();
  url.hash = '';
  return url.href;
}

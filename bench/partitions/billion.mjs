/**
 * A simulation of 10⁹ URLs over 64 partitions: how evenly domains of very different size spread, and what memory and CPU each
 * partition needs by the measured cost of a URL and a page. It fetches and stores nothing.
 *
 *   node scripts/build.mjs && node bench/partitions/billion.mjs
 *
 * Assumptions: domain sizes follow Zipf's law (the nth largest domain has 1/n of the pages of the largest), over so many
 * domains and with a cap for each, as a crawl that bounds pages per domain has it. The costs are the upper ends of DESIGN §5
 * and of docs/internals/dupefilters.md.
 */
import { partitionOf } from '../../dist/frontier/partitions/partition-of.js';

const URLS = 1e9;
const PARTITIONS = 64;
/** Of the URLs, how many are pending at once. */
const PENDING_SHARE = 0.2;
const BYTES = { pending: 380, RFPDupeFilter: 126, CompactDupeFilter: 11 };
/** µs of one server: a lease with its settle, and a new link pushed; a link that is seen costs a tenth. */
const US = { page: 18, newLink: 10, seenLink: 1 };
const LINKS_A_PAGE = 50;

const cases = [
  { domains: 1e5, cap: Number.POSITIVE_INFINITY },
  { domains: 1e6, cap: Number.POSITIVE_INFINITY },
  { domains: 1e6, cap: 1e6 },
  { domains: 1e7, cap: 1e5 },
];

console.log(
  '| domains | pages a domain, at most | largest domain | busiest / mean partition | GB of the busiest, exact / compact dupefilter |',
);
console.log('|---|---|---|---|---|');
for (const each of cases) {
  const { largest, urls } = spread(each);
  const mean = URLS / PARTITIONS;
  const busiest = Math.max(...urls);
  const gigabytes = (dupefilter) =>
    Math.round((busiest * (PENDING_SHARE * BYTES.pending + BYTES[dupefilter])) / 1e9);
  console.log(
    `| ${each.domains.toExponential(0)} | ${each.cap === Number.POSITIVE_INFINITY ? 'any' : each.cap.toExponential(0)} | ${(largest / 1e6).toFixed(1)} million | ${(busiest / mean).toFixed(2)} | ${gigabytes('RFPDupeFilter')} / ${gigabytes('CompactDupeFilter')} |`,
  );
}
const usAPage = US.page + US.newLink + (LINKS_A_PAGE - 1) * US.seenLink;
const pagesPerSecond = 1e6 / usAPage;
console.log(
  `\nA page costs ${usAPage} µs of a server (${LINKS_A_PAGE} links, one of them new), so one partition on a processor of its own bears ` +
    `${Math.round(pagesPerSecond)} pages/s, and ${PARTITIONS} bear ${Math.round((PARTITIONS * pagesPerSecond) / 1e3)},000: 10⁹ pages in ` +
    `${(URLS / (PARTITIONS * pagesPerSecond) / 3600).toFixed(1)} hours, if the domains are equally fast.`,
);

/** The URLs of each partition. */
function spread({ domains, cap }) {
  const scale = scaleFor(domains, cap);
  const urls = new Float64Array(PARTITIONS);
  for (let rank = 1; rank <= domains; rank++) {
    urls[partitionOf(`site-${rank}.example`, PARTITIONS)] += Math.min(cap, scale / rank);
  }
  return { largest: Math.min(cap, scale), urls };
}

/** The size of the largest domain without a cap, so that all have 10⁹ URLs with it. Capped domains are the first `scale / cap`. */
function scaleFor(domains, cap) {
  let [low, high] = [0, 1e13];
  for (let step = 0; step < 100; step++) {
    const scale = (low + high) / 2;
    const capped = Math.min(domains, Math.floor(scale / cap) || 0);
    const rest = Math.log(domains / Math.max(1, capped)) + (capped === 0 ? 0.5772 : 0);
    const total = capped * (cap === Number.POSITIVE_INFINITY ? 0 : cap) + scale * rest;
    if (total < URLS) low = scale;
    else high = scale;
  }
  return (low + high) / 2;
}

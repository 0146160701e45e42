/**
 * How many links a second a node judges: found in its cache, fingerprinted in a new spelling, and made ready for the
 * frontier, canonicalisation and hashing included. CPU time of one process, no store: `npm run bench:links`.
 */

import { fingerprint, linked, linkRules, Request, SeenLinks } from '../dist/internal.js';

const LINKS = 100_000;
const ROUNDS = 7;
const rules = linkRules(
  {},
  { depthLimit: 0, depthPriority: 0, urlLengthLimit: 2083, fingerprint: (request) => fingerprint(request) },
  'host',
  null,
);
const page = { id: 'a'.repeat(40), record: { depth: 3, origin: { seed: '0123abcd', private: false } } };
const urls = Array.from(
  { length: LINKS },
  (_, n) => `http://docs.example.org/section-${n % 60}/page-${n}.html`,
);
const spellings = urls.map((url, n) => `${url}?b=${n % 7}&a=%7e${n}`);

const seen = new SeenLinks();
const known = urls.slice(0, 50_000);
seen.learn(
  known.map((url) => ({ found: { request: new Request(url) } })),
  'epoch',
  0,
);

const rates = {
  'found in the cache, the request made': rate(known, (url) => seen.has(new Request(url))),
  'new spelling: request and fingerprint': rate(spellings, (url) => fingerprint(new Request(url))),
  'new link: request, fingerprint, record, domain': rate(urls, (url, n) =>
    linked({ request: new Request(url), callback: null, errback: null }, n, page, rules, 1_764_000_000_000),
  ),
};
for (const [name, perSecond] of Object.entries(rates)) {
  console.log(`${name}: ${Math.round(perSecond).toLocaleString('en')}/s`);
}

/** Median over the rounds, by CPU time. */
function rate(values, judge) {
  const rates = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let n = 0; n < values.length; n++) judge(values[n], n);
    const { user, system } = process.cpuUsage(before);
    rates.push(values.length / ((user + system) / 1e6));
  }
  return rates.sort((a, b) => a - b)[ROUNDS >> 1];
}

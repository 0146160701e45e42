/** Bytes of a pending request and of a URL in the dupefilter; and what a new link costs among that many domains. */
import { pushAll, requestOf } from './requests.mjs';
import { measure } from './stage.mjs';

const crawls = [
  { domains: 1, count: 100_000, goals: { bytes: 300, seenBytes: 90, serverUs: 10 } },
  { domains: 1_000, count: 100_000, goals: { bytes: 300, seenBytes: 90, serverUs: 10 } },
  { domains: 100_000, count: 200_000, goals: { bytes: 600, seenBytes: 90, serverUs: 12 } },
];

export async function* memory(stage) {
  for (const { domains, count, goals } of crawls) {
    const options = stage.newCrawl();
    const frontier = await stage.join(options);
    const before = await stage.bytes(frontier, options);
    const cost = await measure(stage, count, () => pushAll(frontier, 0, count, (n) => requestOf(n, domains)));
    const after = await stage.bytes(frontier, options);
    yield {
      what: `pending request, ${domains.toLocaleString('en')} domain${domains === 1 ? '' : 's'}`,
      ...cost,
      bytes: (after.frontier - before.frontier) / count,
      seenBytes: (after.dupefilter - before.dupefilter) / count,
      // The goals are those of Redis: the embedded engine keeps its store on disk.
      goals: stage.engine === 'redis' ? goals : {},
    };
  }
}

/** A crawl with something of everything in it, for what backs it up and brings it back. */
import type { Frontier, FrontierRequest } from '../../src/frontier/frontier.js';
import { readAll } from '../frontier-contract/backups-dupefilters.js';
import { commit, failed, type RequestChoice, request, take } from '../frontier-contract/world.js';
import { joinAs } from './joining.js';

/** So many pages, of which one fails and one is done with two items; one that is delayed; two seeds. */
export async function fill(frontier: Frontier, count = 20): Promise<void> {
  await joinAs(frontier);
  for (let at = 0; at < count; at += 1_000) {
    const pages = Array.from({ length: Math.min(1_000, count - at) }, (_, n) =>
      readable(`page-${at + n}`, { domain: `${n % 7}.example`, priority: n % 3 }),
    );
    await frontier.push(pages, 'links');
  }
  await frontier.push([readable('later', { delayMs: 3_600_000 })], 'links');
  const [a, b] = await take(frontier, 2);
  await commit(frontier, a!, failed('timeout'));
  await commit(frontier, b!, undefined, { items: ['{"n":1}', '{"n":"ü"}'], stats: { pages: 3 } });
  await frontier.appendSeeds(['http://a.example/', 'x']);
  await frontier.leave('shutdown');
}

/** `doctor --deep` reads each record. */
function readable(name: string, choice: RequestChoice): FrontierRequest {
  return { ...request(name, choice), record: JSON.stringify({ v: 1, u: `http://a.example/${name}` }) };
}

/** What a backup of all of it would hold, in an order of its own. */
export async function contents(frontier: Frontier): Promise<string[]> {
  return (await readAll(frontier))
    .flatMap((entry): unknown[] => ('values' in entry ? [...entry.values] : []))
    .map((value) => JSON.stringify(value, Object.keys(Object(value)).sort()))
    .sort();
}

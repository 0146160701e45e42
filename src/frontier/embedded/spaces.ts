/** The names of a crawl's keys, as the bytes that stand for them. */
import type { FrontierKeys } from '../open.js';
import { SPACE_BYTES, spaceOf, Table } from './keys.js';

export interface Spaces {
  readonly crawlName: string;
  readonly crawl: Buffer;
  readonly dupefilter: Buffer;
  readonly startUrls: readonly { readonly name: string; readonly good: Buffer; readonly bad: Buffer }[];
  readonly items: Buffer;
  readonly stats: Buffer;
}

/** The spaces of the keys that the settings name. */
export function spacesOf(keys: FrontierKeys): Spaces {
  return {
    crawlName: keys.requests,
    crawl: spaceOf(keys.requests),
    dupefilter: spaceOf(keys.dupefilter),
    startUrls: keys.startUrls.map((name) => ({ name, good: spaceOf(name), bad: spaceOf(`${name}:bad`) })),
    items: spaceOf(keys.items),
    stats: spaceOf(keys.stats),
  };
}

/** The key under which a crawl is listed among those of its folder; without a name, what all such keys begin with. */
export function nameKey(name: string): Buffer {
  return Buffer.concat([Buffer.from([Table.names]), Buffer.alloc(SPACE_BYTES), Buffer.from(name)]);
}

/** What the commands ask of a dupefilter in Redis. Counts and sizes do not depend on its class. */
import type { Dupefilter, RequestLife } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import type { Client } from '../connection/client.js';
import { dupefilterKey, dupefilterPiece, dupefilterWords, internalKey } from '../keys.js';
import { bytesOf, clockOf, lengthOf, sum } from './measuring.js';
import { storedObject, textField } from './stored-json.js';

/** Of a dupefilter of many pieces so many are measured, evenly spaced; the others are taken to be like them. */
const SAMPLED = 64;

/** How many fingerprints it holds, those whose time has come not counted. */
export async function seenCount(client: Client, keys: FrontierKeys): Promise<number> {
  const [type, indexed] = await Promise.all([
    client.type(keys.dupefilter),
    client.hget(dupefilterKey(keys, 'index'), 'seen'),
  ]);
  if (indexed !== null) return Number(indexed);
  if (type !== 'zset') return lengthOf(client, keys.dupefilter);
  return client.zcount(keys.dupefilter, `(${await clockOf(client)}`, '+inf');
}

/** Memory of all its keys. */
export async function dupefilterBytes(client: Client, keys: FrontierKeys): Promise<number> {
  const { generation, pieces: all } = await client.hgetall(dupefilterKey(keys, 'index'));
  const names = [keys.dupefilter, ...dupefilterWords.map((word) => dupefilterKey(keys, word))];
  const own = await sum(names, (name) => bytesOf(client, name));
  if (generation === undefined) return own;
  const pieces = Number(all);
  const count = Math.min(SAMPLED, pieces);
  const sample = Array.from({ length: count }, (_, n) => Math.floor((n * pieces) / count));
  const measured = await sum(sample, (n) => bytesOf(client, dupefilterPiece(keys, generation, n)));
  return own + Math.round((measured * pieces) / Math.max(1, count));
}

/** The dupefilter that the crawl agreed on; null where none was written yet. */
export async function agreedDupefilter(client: Client, keys: FrontierKeys): Promise<Dupefilter | null> {
  const meta = internalKey(keys, 'meta');
  const agreed = (await client.type(meta)) === 'hash' ? await client.hget(meta, 'dupefilter') : null;
  const read = storedObject(agreed);
  return textField(read, 'class') === undefined ? null : (read as unknown as Dupefilter);
}

/** By the letters of `lua/dupefilters/state.lua`. */
export const states: Readonly<Record<string, RequestLife['state']>> = {
  p: 'pending',
  l: 'leased',
  d: 'delayed',
  x: 'done',
  f: 'failed',
};

/** The checks of `doctor` for the keys of one crawl in Redis: foreign types, another data format, other slots. */
import type { Cluster } from 'ioredis';
import { dataFormats } from '../../data-format.js';
import type { Findings } from '../../findings.js';
import type { OpenOptions } from '../../open-options.js';
import type { Client } from '../connection/client.js';
import { ifAllowed } from '../connection/errors.js';
import { foreignKeys, foundFormat } from '../connection/preflight.js';
import { internalKey, internalWords } from '../keys.js';

export async function examineKeys(client: Client, options: OpenOptions, found: Findings): Promise<void> {
  const { keys } = options;
  const format = await foundFormat(client, keys);
  if (format !== null && format !== String(dataFormats.redis)) {
    found.problem(
      'format',
      `${keys.requests} is kept in data format ${format}, this crawlnode reads and writes format ${dataFormats.redis}`,
      'go on with the version of crawlnode that wrote it, or "crawlnode reset SPIDER" and begin anew',
    );
  } else {
    const foreign = await foreignKeys(client, options);
    for (const message of foreign) {
      found.problem('foreign_key', message, 'nodes refuse to start until it is gone');
    }
    if (foreign.length === 0) {
      await record(client, options, found);
      const what = format === null ? 'nothing is stored yet' : `data format ${format}`;
      found.ok('keys', `${what}; every key ${keys.requests.split(':')[0]}:… is of the right type`);
    }
  }
  await otherSpelling(client, options, found);
  if ('nodes' in client) await slots(client, options, found);
}

/** The record of the crawl, or fields of it, that somebody deleted: `lua/base/meta.lua`. */
async function record(client: Client, { keys }: OpenOptions, found: Findings): Promise<void> {
  const meta = internalKey(keys, 'meta');
  const [size, fields, others] = await Promise.all([
    client.hlen(meta),
    client.hget(meta, 'fields'),
    client.exists(keys.requests, internalKey(keys, 'nodes')),
  ]).catch(() => [0, null, 0] as const);
  const missing = size === 0 ? others : Number(fields ?? size) + 1 - size;
  if (!(missing > 0)) return;
  found.problem(
    'record',
    size === 0 ? `${meta} is gone, though its crawl is there` : `${missing} fields of ${meta} are gone`,
    'stop the nodes, then "crawlnode doctor SPIDER --repair"',
  );
}

/** Key names have the spider in braces only in a Cluster. A producer may use the other spelling by mistake. */
async function otherSpelling(client: Client, { keys, store }: OpenOptions, found: Findings): Promise<void> {
  const isCluster = store.engine === 'redis' && store.address.kind === 'cluster';
  for (const key of keys.startUrls) {
    const other = isCluster ? key.replace(/[{}]/g, '') : key.replace(/^[^:{}]+/, '{$&}');
    if (other === key || (await ifAllowed(client.exists(other), 0)) === 0) continue;
    found.problem(
      'start_urls_key',
      `${other} holds seeds that no node reads: ${isCluster ? 'in a Cluster' : 'outside a Cluster'} the key is ${key}`,
      `have producers push to ${key}, and move what is there`,
    );
  }
}

/** A script may only touch keys of one slot. */
async function slots(client: Cluster, { keys }: OpenOptions, found: Findings): Promise<void> {
  const names = [
    ...[keys.requests, keys.dupefilter, keys.items, keys.stats, ...keys.startUrls],
    ...internalWords.map((word) => internalKey(keys, word)),
  ];
  const all = new Set(await Promise.all(names.map((name) => client.cluster('KEYSLOT', name))));
  if (all.size === 1) {
    found.ok('slots', `all keys share slot ${[...all][0]} of the Cluster`);
    return;
  }
  found.problem(
    'slots',
    `the keys of this crawl lie in ${all.size} slots of the Cluster, so no script can run`,
    'let every key setting begin with %(spider)s, the default',
  );
}

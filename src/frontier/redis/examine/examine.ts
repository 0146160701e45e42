/** The checks of `doctor` for Redis and one crawl: each server, the rights of the user, the keys. */
import { classOf } from '../../dupefilter-classes.js';
import { type Findings, findingsAbout } from '../../findings.js';
import type { Finding } from '../../frontier.js';
import type { OpenOptions } from '../../open-options.js';
import { type Client, serversOf } from '../connection/client.js';
import { ifAllowed } from '../connection/errors.js';
import { examineKeys } from './keys.js';
import { examineLibraries } from './libraries.js';
import { examineRights } from './rights.js';
import { examineIntsets, examineServer } from './server.js';

export async function examineRedis(client: Client, options: OpenOptions): Promise<Finding[]> {
  const [store, crawl] = [findingsAbout('store'), findingsAbout('crawl')];
  const servers = serversOf(client);
  const [server] = servers;
  const ofServers: Findings[] = [];
  let isWritable = true;
  for (const each of servers) {
    const { host, port } = each.options;
    const found = findingsAbout('store', servers.length > 1 ? `${host}:${port}: ` : '');
    ofServers.push(found);
    isWritable = await examineServer(each, found);
    await examineLibraries(each, found);
  }
  // ioredis disconnects from a server that reports itself as read-only, and connects again.
  if (server !== undefined && isWritable) await examineRights(server, options, store);
  if (server !== undefined && classOf(options.shape.dupefilter).redisLayout === 'pieces: sets')
    await examineIntsets(server, crawl);
  // Missing rights are reported already.
  await ifAllowed(examineKeys(client, options, crawl), undefined);
  return [...ofServers, store, crawl].flatMap(({ found }) => found);
}

/** The checks of `doctor` for Redis and one crawl: each server, the rights of the user, the keys. */
import { findingsAbout } from '../../../doctor/findings.js';
import type { Finding } from '../../../frontier.js';
import type { OpenOptions } from '../../../open-options.js';
import { type Client, serversOf } from '../../connection/client.js';
import { INTSET_ENTRIES } from '../preflight.js';
import { examineKeys } from './keys.js';
import { examineLibraries } from './libraries.js';
import { examineRights, isDenied } from './rights.js';
import { examineServer, intsetEntries } from './server.js';

export async function examineRedis(client: Client, options: OpenOptions): Promise<Finding[]> {
  const store = findingsAbout('store');
  const crawl = findingsAbout('crawl');
  const servers = serversOf(client);
  let isWritable = true;
  for (const server of servers) {
    const { host, port } = server.options;
    const where = servers.length > 1 ? `${host}:${port}: ` : '';
    isWritable = await examineServer(server, where, store);
    await examineLibraries(server, where, store);
  }
  const [server] = servers;
  if (server !== undefined) {
    // ioredis disconnects from a server that reports itself as read-only, and connects again.
    if (isWritable) await examineRights(server, options.keys, store);
    if (options.shape.dupefilter.class === 'CompactDupeFilter') {
      const entries = await intsetEntries(server);
      if (entries !== null && entries < INTSET_ENTRIES) {
        crawl.problem(
          'intset_entries',
          `set-max-intset-entries is ${entries}: the CompactDupeFilter would take many times its memory`,
          `CONFIG SET set-max-intset-entries ${INTSET_ENTRIES} (and in redis.conf)`,
        );
      } else
        crawl.ok(
          'intset_entries',
          `set-max-intset-entries ${entries ?? 'unknown'} suits the CompactDupeFilter`,
        );
    }
  }
  // Missing rights are reported already.
  await examineKeys(client, options, crawl).catch((error: unknown) => {
    if (!isDenied(error)) throw error;
  });
  return [...store.found, ...crawl.found];
}

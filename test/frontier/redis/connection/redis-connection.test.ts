/** A connection that goes silent is given up, and a server that loses the library again and again is given it again. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RedisConnection } from '../../../../src/frontier/redis/connection/connection.js';
import { text } from '../../../../src/frontier/redis/connection/reply.js';
import { allKeys } from '../../../../src/frontier/redis/keys.js';
import { openOptions } from '../../../helpers/open-options.js';
import { startCuttingProxy } from '../../../helpers/redis/cutting-proxy.js';
import { redisOfFile } from '../../../helpers/redis/redis-of-file.js';
import { waitFor } from '../../../helpers/wait-for.js';

const { server, admin } = await redisOfFile();

it('connects anew where its connection carries nothing more', { timeout: 30_000 }, async () => {
  const proxy = await startCuttingProxy(server.port);
  const address = { kind: 'standalone', url: `redis://127.0.0.1:${proxy.port}`, options: {} } as const;
  const connection = await RedisConnection.open(address, 5_000);
  try {
    proxy.silence();
    await waitFor(() =>
      connection
        .patiently((client) => client.ping())
        .then(
          (answer) => answer === 'PONG',
          () => false,
        ),
    );
  } finally {
    connection.close();
    await proxy.close();
  }
});

it('answers while somebody flushes functions in a tight loop', { timeout: 30_000 }, async () => {
  const address = { kind: 'standalone', url: server.url, options: {} } as const;
  const connection = await RedisConnection.open(address, 5_000);
  const { keys } = openOptions(server.url, 'news');
  let isOver = false;
  const flushing = (async () => {
    while (!isOver) await admin.function('FLUSH').then(() => turn());
  })();
  try {
    for (let call = 0; call < 100; call++) {
      const args = { incarnation: 'nobody', pagesPerSecond: 0, caller: 'me', call };
      expect(text((await connection.call('heartbeat', allKeys(keys), args)).reply)).toBe('gone');
    }
  } finally {
    isOver = true;
    await flushing;
    connection.close();
  }
});

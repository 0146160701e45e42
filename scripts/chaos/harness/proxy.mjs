/** A TCP proxy before a port, which treats what passes as a bad network does. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atCleanUp } from './stage.mjs';

/**
 * @returns its address, and switches: each holds until it is set again; `silence` is for the connections that there are. `state`
 * counts down `cuts`, the replies to be cut off; `cutChance` is the part of all replies that is cut off too, and `cut` how many were.
 */
export async function startProxy(target) {
  const state = { delayMs: 0, cuts: 0, cutChance: 0, cut: 0, bytesPerSecond: 0, isHole: false };
  const pairs = new Set();
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    const pair = { client, upstream, isSilent: false };
    pairs.add(pair);
    void forward(client, upstream, pair, false);
    void forward(upstream, client, pair, true);
    for (const socket of [client, upstream]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
  });
  const forward = async (from, to, pair, isReply) => {
    try {
      for await (const chunk of from) {
        while (state.isHole && !from.destroyed) await sleep(20);
        if (pair.isSilent) continue;
        if (state.delayMs > 0) await sleep(state.delayMs);
        if (state.bytesPerSecond > 0) await sleep((1_000 * chunk.length) / state.bytesPerSecond);
        if (isReply && (state.cuts > 0 || Math.random() < state.cutChance)) {
          state.cuts = Math.max(0, state.cuts - 1);
          state.cut += 1;
          // Half of the reply of a call that the server has executed.
          to.write(chunk.subarray(0, chunk.length / 2), () => pair.client.resetAndDestroy());
          return;
        }
        to.write(chunk);
      }
    } catch {
      // The other side is closed with it.
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atCleanUp(async () => {
    for (const { client } of pairs) client.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${server.address().port}`,
    state,
    silence() {
      for (const pair of pairs) pair.isSilent = true;
    },
    reset() {
      for (const { client } of pairs) client.resetAndDestroy();
    },
  };
}

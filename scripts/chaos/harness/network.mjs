/**
 * A network that can be split. Each server listens on an inner address of loopback that only the harness uses, and is known to
 * all others by an outer one, where a proxy listens. Servers connect from their inner address (bind-source-addr), nodes of
 * the crawl from 127.0.0.1: so a proxy knows who calls whom, and holds back what would cross the split.
 */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atCleanUp } from './stage.mjs';

/** The address from which the nodes of a crawl connect. */
export const CRAWL = '127.0.0.1';

let networks = 0;

/** @returns how to add servers, to split the network, and to heal it. */
export function startNetwork() {
  networks += 1;
  const number = networks;
  let servers = 0;
  /** Addresses on one side; null while all reach all. */
  let side = null;
  const isCut = (one, other) => side !== null && side.has(one) !== side.has(other);
  return {
    /** @returns { inner, outer }: two addresses for a new server. */
    newHost() {
      servers += 1;
      return { inner: `127.${number}.1.${servers}`, outer: `127.${number}.2.${servers}` };
    },
    /** From now on the port is reached by the outer address. */
    async expose({ inner, outer }, port) {
      const sockets = new Set();
      const server = net.createServer((client) => {
        const from = client.remoteAddress;
        const upstream = net.connect({ host: inner, port, localAddress: inner });
        const isHeld = () => isCut(from, inner);
        void forward(client, upstream, isHeld);
        void forward(upstream, client, isHeld);
        for (const socket of [client, upstream]) {
          sockets.add(socket);
          socket.on('error', () => {});
          socket.on('close', () => {
            sockets.delete(socket);
            client.destroy();
            upstream.destroy();
          });
        }
      });
      server.listen(port, outer);
      await once(server, 'listening');
      atCleanUp(async () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
    },
    /** Nothing passes any more between these addresses and all others. */
    split(addresses) {
      side = new Set(addresses);
    },
    /** All reach all again; what was held back arrives. */
    heal() {
      side = null;
    },
  };
}

async function forward(from, to, isHeld) {
  try {
    for await (const chunk of from) {
      while (isHeld() && !from.destroyed) await sleep(20);
      to.write(chunk);
    }
  } catch {
    // The other side is closed with it.
  }
}

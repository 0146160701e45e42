/** A TCP proxy that can cut a connection after the server executed a command and before its reply arrives. */
import { once } from 'node:events';
import net from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /** The next bytes from the server are swallowed and their connection is reset. */
  cutNextReply(): void;
  /** The same of all of them, until it is told otherwise. */
  cutAllReplies(on: boolean): void;
  /** The connections that there are now stay open, but carry nothing more; new ones work. */
  silence(): void;
  /** The same of the next connection that sends such a text, from that text on. @returns whether it was sent since */
  silenceAt(text: string): () => boolean;
  /** Nothing gets through to the server, until it is told otherwise. */
  refuse(on: boolean): void;
  /** How many replies were cut so far. */
  cuts(): number;
  close(): Promise<void>;
}

/** Listen on a free port of 127.0.0.1 and forward to `targetPort`. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  let armed = false;
  let cutsAll = false;
  let refuses = false;
  let cuts = 0;
  let silencingText: string | null = null;
  const sockets = new Set<net.Socket>();
  const silencers = new Set<() => void>();
  const server = net.createServer((client) => {
    if (refuses) {
      client.destroy();
      return;
    }
    const upstream = net.connect(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      socket.on('error', () => socket.destroy());
    }
    let isSilent = false;
    silencers.add(() => {
      isSilent = true;
    });
    client.on('data', (chunk) => {
      if (silencingText !== null && chunk.includes(silencingText)) {
        isSilent = true;
        silencingText = null;
      }
      if (!isSilent) upstream.write(chunk);
    });
    client.on('end', () => upstream.end());
    upstream.on('data', (chunk) => {
      if (isSilent) return;
      if (!armed && !cutsAll) {
        client.write(chunk);
        return;
      }
      armed = false;
      cuts += 1;
      client.resetAndDestroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    cutNextReply() {
      armed = true;
    },
    silence() {
      for (const silence of silencers) silence();
    },
    silenceAt(text) {
      silencingText = text;
      return () => silencingText === null;
    },
    cutAllReplies(on) {
      cutsAll = on;
    },
    refuse(on) {
      refuses = on;
      if (on) for (const socket of sockets) socket.destroy();
    },
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Ports of loopback for the servers of proofs and benches. */
import { once } from 'node:events';
import net from 'node:net';

/** A port that was free a moment ago. */
export async function freePort(host = '127.0.0.1') {
  const server = net.createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when something listens there; rejects after ten seconds. */
export async function untilListening(port, host = '127.0.0.1') {
  for (let attempt = 0; attempt < 200; attempt++) {
    const socket = net.connect(port, host);
    const [event] = await Promise.race([
      once(socket, 'connect').then(() => ['connect']),
      once(socket, 'error').then(() => ['error']),
    ]).catch(() => ['error']);
    socket.destroy();
    if (event === 'connect') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** A site within the process of the harness. */
import { once } from 'node:events';
import { atCleanUp } from '../../proof/faults/stage.mjs';

/** Let an HTTP server listen until the clean-up. @returns its origin */
export async function listenLocally(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atCleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

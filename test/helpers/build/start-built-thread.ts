/** In place of `src/node/membership/start-thread.ts`: from source, the thread of each node would first load a TypeScript compiler. */

import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from '../../../scripts/build-state.mjs';

export function startThread(workerData: object): Worker {
  return new Worker(path.join(dist, 'heartbeat-thread.js'), { workerData });
}

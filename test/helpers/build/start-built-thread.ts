/** In place of `src/node/membership/start-thread.ts`: from source, the thread of each node would first load a TypeScript compiler. */
import { Worker } from 'node:worker_threads';
import { builtThread } from './build-state.js';

export function startThread(workerData: object): Worker {
  return new Worker(builtThread, { workerData });
}

/** Starts the thread of heartbeats. A module of its own, as the tests start that of the build (vitest.config.ts). */
import { Worker } from 'node:worker_threads';

/** Built code starts its neighbour as it is; run from source, the thread first learns TypeScript (as `tsx` does it). */
export function startThread(workerData: object): Worker {
  if (import.meta.url.endsWith('.js')) {
    return new Worker(new URL('heartbeat-thread.js', import.meta.url), { workerData });
  }
  const tsx = import.meta.resolve('tsx/esm/api');
  const thread = new URL('heartbeat-thread.ts', import.meta.url);
  const script = `import('${tsx}').then(({ register }) => { register(); return import('${thread}'); })`;
  return new Worker(script, { eval: true, workerData });
}

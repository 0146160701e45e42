/** Starts the thread of heartbeats. A module of its own, as the tests start that of the build (vitest.config.ts). */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { isSource, packageFolder } from '../../package-folder.js';

/** The build has a file for the thread. From source, the thread first registers tsx. */
export function startThread(workerData: object): Worker {
  if (!isSource) return new Worker(path.join(packageFolder, 'dist', 'heartbeat-thread.js'), { workerData });
  const tsx = import.meta.resolve('tsx/esm/api');
  const thread = pathToFileURL(path.join(packageFolder, 'src', 'node', 'membership', 'heartbeat-thread.ts'));
  const script = `import('${tsx}').then(({ register }) => { register(); return import('${thread}'); })`;
  return new Worker(script, { eval: true, workerData });
}

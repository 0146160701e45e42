/** Imported by a node under measurement: as it ends, it writes its peak memory in MB and its CPU time in s to the file USAGE_FILE. */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { peakOfProcess } from '../harness/samples.mjs';

if (isMainThread) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const usage = { megabytes: peakOfProcess(process.pid), seconds: (user + system) / 1e6 };
    writeFileSync(process.env.USAGE_FILE, JSON.stringify(usage));
  });
}

/** What processes and stores take at one moment. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const TICKS_PER_SECOND = 100;

/** RSS in MB, descriptors, and seconds of CPU so far; null when the process is over. */
export function sampleProcess(pid) {
  try {
    const rssKb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    const cpuS = (Number(afterName[11]) + Number(afterName[12])) / TICKS_PER_SECOND;
    return { rssMb: rssKb / 1_024, descriptors: readdirSync(`/proc/${pid}/fd`).length, cpuS };
  } catch {
    return null;
  }
}

/** Seconds of CPU of this process and of all children that have ended: unlike time, they do not depend on what else runs. */
export function cpuSeconds() {
  const afterName = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  // utime, stime, cutime and cstime of proc(5).
  const ticks = afterName.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  return ticks / TICKS_PER_SECOND;
}

/** @param admin a client of Redis; null for the embedded store. @returns `mb`, and of Redis `keys` */
export async function sampleStore({ dir }, admin) {
  if (admin === null) {
    const files = ['frontier.db', 'frontier.db-wal'].map((name) => path.join(dir, '.crawlnode', name));
    return {
      mb: files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0) / 1e6,
    };
  }
  const info = await admin.info('memory');
  return { mb: Number(/used_memory:(\d+)/.exec(info)[1]) / 1e6, keys: await admin.dbsize() };
}

/** The most RSS that a process has had, in MB; 0 when it is over. */
export function peakOfProcess(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1_024;
  } catch {
    return 0;
  }
}

/**
 * How long a write to the log of an embedded store stays unsynced: a crawl under `strace`, whose system calls tell when the
 * log (`frontier.db-wal`) was written and when it was next brought to the disk. A power cut loses what stands between.
 *
 * Needs `strace` and a built executable: `node scripts/proof/wal-sync.mjs [seconds]`. Exit code 1 when a write waited for
 * longer than 1.2 s, or nothing was seen.
 */
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { cleanUp, crawl, endOf, newProject, startSite } from './faults/stage.mjs';

const LIMIT_MS = 1_200;
const seconds = Number(process.argv[2] ?? 20);

try {
  // Slow enough to last: writes must come in each second of it.
  const site = await startSite({ pages: seconds * 100, delayMs: () => 100 });
  const project = await newProject(null);
  const trace = path.join(project.dir, 'trace');
  const calls = 'pwrite64,pwritev,write,fsync,fdatasync';
  const tracing = ['strace', '-f', '-ttt', '-y', '-s', '0', '-e', `trace=${calls}`, '-o', trace];
  const node = crawl(project, ['-a', `start=${site.url}`, '--exit-when-done'], { wrap: tracing });
  const { code } = await endOf(node, seconds * 10_000);
  const { writes, syncs, longestMs } = await waits(trace);
  console.log(
    `${writes} writes to the log, ${syncs} syncs; the longest wait for the disk: ${longestMs.toFixed(0)} ms (limit ${LIMIT_MS})`,
  );
  const held = code === 0 && writes > 0 && syncs > 0 && longestMs <= LIMIT_MS;
  console.log(held ? 'held' : `FAILED${code === 0 ? '' : `: the crawl ended with ${code}`}`);
  process.exitCode = held ? 0 : 1;
} finally {
  await cleanUp();
}

/** The longest time from a write to the end of a sync that began after it, or to the end of the trace. */
async function waits(trace) {
  let unsyncedSinceMs = null;
  /** The oldest write that a sync under way covers. */
  let syncingSinceMs = null;
  let longestMs = 0;
  let lastMs = 0;
  let writes = 0;
  let syncs = 0;
  const syncing = new Set();
  for await (const line of createInterface({ input: createReadStream(trace) })) {
    const [, thread, at, call] = /^(\d+) +(\d+\.\d+) (.*)$/.exec(line) ?? [];
    if (call === undefined) continue;
    lastMs = Number(at) * 1_000;
    if (/^(pwrite64|pwritev|write)\(\d+<[^>]*frontier\.db-wal>/.test(call)) {
      writes += 1;
      unsyncedSinceMs ??= lastMs;
    }
    const begins = /^(fsync|fdatasync)\(\d+<[^>]*frontier\.db-wal>/.test(call);
    if (begins) {
      syncing.add(thread);
      syncingSinceMs ??= unsyncedSinceMs;
      unsyncedSinceMs = null;
    }
    const ends = begins ? !call.includes('<unfinished') : /^<\.\.\. (fsync|fdatasync) resumed>/.test(call);
    if (!ends || !syncing.delete(thread)) continue;
    syncs += 1;
    if (syncingSinceMs !== null) longestMs = Math.max(longestMs, lastMs - syncingSinceMs);
    syncingSinceMs = null;
  }
  const leftSinceMs = syncingSinceMs ?? unsyncedSinceMs;
  if (leftSinceMs !== null) longestMs = Math.max(longestMs, lastMs - leftSinceMs);
  return { writes, syncs, longestMs };
}

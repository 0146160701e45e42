/**
 * Four processes that never leave the embedded store alone: each pushes links, leases and settles as fast as it can. How
 * large does the write-ahead log grow, how long does one turn of a process' event loop take, and is anything lost?
 *
 * Needs a build: `node scripts/proof/saturated-writers.mjs [links]`, a million by default. Exit code 1 when a link is lost,
 * the log exceeds 64 MB, a turn 200 ms, or an invariant does not hold.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openFrontier } from '../../dist/internal.js';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { openOptions } from './open-options.mjs';

const PROCESSES = 4;
const WAL_LIMIT_MB = 64;
const TURN_LIMIT_MS = 200;
const links = Number(process.argv[2] ?? 1_000_000);
const child = fileURLToPath(new URL('./saturated-writers/writer.mjs', import.meta.url));

const dir = path.join(await tempDir('saturated'), '.crawlnode');
let walBytes = 0;
const watch = setInterval(() => {
  const size = statSync(path.join(dir, 'frontier.db-wal'), { throwIfNoEntry: false })?.size ?? 0;
  walBytes = Math.max(walBytes, size);
}, 20);
try {
  const writers = Array.from({ length: PROCESSES }, (_, n) =>
    fork(child, [dir, String((n * links) / PROCESSES), String(links / PROCESSES)]),
  );
  const reports = await Promise.all(writers.map(reportOf));
  const frontier = await openFrontier(openOptions(dir, 'load'));
  const { accepted, pending, leased, done, failed } = await frontier.snapshot();
  const breaches = await frontier.verify();
  await frontier.close();
  const settled = reports.reduce((sum, report) => sum + report.settled, 0);
  const longestTurnMs = Math.max(...reports.map(({ turnsMs }) => turnsMs[0]));
  const lost = links - accepted;
  const walMb = walBytes / 1e6;
  console.log(`${accepted} of ${links} links accepted, ${done} pages done (${settled} acknowledged)`);
  console.log(`the log grew to ${walMb.toFixed(1)} MB (limit ${WAL_LIMIT_MB})`);
  console.log(`the longest turn took ${longestTurnMs.toFixed(0)} ms (limit ${TURN_LIMIT_MS})`);
  const problems = [...breaches];
  if (lost !== 0) problems.push(`${lost} links lost`);
  if (done !== settled) problems.push(`${settled} settles were acknowledged, ${done} pages are done`);
  if (pending + leased + done + failed !== accepted) problems.push('the states do not add up');
  if (walMb > WAL_LIMIT_MB) problems.push('the log grew too large');
  if (longestTurnMs > TURN_LIMIT_MS) problems.push('a turn took too long');
  console.log(problems.length === 0 ? 'held' : `FAILED: ${problems.join('; ')}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  clearInterval(watch);
  await cleanUp();
}

async function reportOf(writer) {
  const [message] = await Promise.race([once(writer, 'message'), once(writer, 'exit').then(() => [null])]);
  if (message === null) throw new Error('a writer ended without a report');
  if (writer.exitCode === null) await once(writer, 'exit');
  return message;
}

/**
 * Exits of a node whose heartbeat's thread waits for the embedded store, as another process holds its lock: each must end
 * with the code it means to end with, and never by a signal.
 *
 * Needs a build: `node scripts/proof/embedded-exits.mjs [exits]`, 100 by default. Exit code 1 when one ends otherwise.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, fileIn, openFrontier } from '../../dist/internal.js';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { openOptions } from './open-options.mjs';

const AT_ONCE = 4;
const exits = Number(process.argv[2] ?? 100);
const child = fileURLToPath(new URL('./embedded-exits/leaver.mjs', import.meta.url));
const dir = path.join(await tempDir('exits'), '.crawlnode');
const ends = {};
let begun = 0;

try {
  const frontier = await openFrontier(openOptions(dir, 'load'));
  await frontier.push([], 'links');
  await frontier.close();
  const holder = connect(fileIn(dir));
  const release = holdNowAndThen(holder);
  await Promise.all(Array.from({ length: AT_ONCE }, exitOneAfterAnother));
  release();
  console.log(`${exits} exits:`, ends);
  process.exitCode = ends['as meant'] === exits ? 0 : 1;
} finally {
  await cleanUp();
}

/** Hold the lock nearly all the time: a node has to join before its thread can wait. */
function holdNowAndThen(holder) {
  let isOver = false;
  const hold = () => {
    if (isOver) return holder.close();
    holder.exec('BEGIN IMMEDIATE');
    setTimeout(() => {
      holder.exec('COMMIT');
      setTimeout(hold, 20);
    }, 300);
  };
  hold();
  return () => {
    isOver = true;
  };
}

async function exitOneAfterAnother() {
  while (begun < exits) {
    begun += 1;
    const meant = 1 + (begun % 100);
    const leaver = fork(child, [dir, String(meant)]);
    const [code, signal] = await once(leaver, 'exit');
    const end = code === meant ? 'as meant' : (signal ?? `${code} instead of ${meant}`);
    ends[end] = (ends[end] ?? 0) + 1;
  }
}

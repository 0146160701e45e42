/**
 * R32: four processes that push links, lease and settle in the embedded store without a pause, each killed at a random moment,
 * often within a commit, and replaced. Afterwards the file is sound, every acknowledged link known, and the item of every
 * acknowledged page there once. Nor does the write-ahead log grow without bound, as nobody leaves the store alone.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestOf } from '../../../bench/frontier/requests.mjs';
import { openDatabase, openFrontier } from '../../../dist/internal.js';
import { openOptions } from '../harness/open-options.mjs';
import { atCleanUp, tempDir } from '../harness/stage.mjs';

const PROCESSES = 4;
/** A process commits for at most so long before it is killed. */
const LONGEST_LIFE_MS = 400;
const WAL_LIMIT_MB = 64;
const KILLS = { short: 20, normal: 200, long: 1_000 };
const child = fileURLToPath(new URL('./writer.mjs', import.meta.url));

export const commitKills = {
  row: 'R32',
  fault: 'SIGKILL of processes that write to the embedded store without a pause',
  engines: ['embedded'],
  async run({ scale, random }) {
    const root = await tempDir('kills');
    const dir = path.join(root, '.crawlnode');
    let [killed, started, walBytes] = [0, 0, 0];
    const killOneAfterAnother = async () => {
      while (killed < KILLS[scale.name]) {
        started += 1;
        const writer = fork(child, [dir, root, String(started)]);
        atCleanUp(async () => void writer.kill('SIGKILL'));
        await Promise.race([once(writer, 'message'), once(writer, 'exit')]);
        if (writer.exitCode !== null) throw new Error(`a writer ended by itself with ${writer.exitCode}`);
        await sleep(random.between(0, LONGEST_LIFE_MS));
        walBytes = Math.max(walBytes, statSync(path.join(dir, 'frontier.db-wal')).size);
        writer.kill('SIGKILL');
        await once(writer, 'exit');
        killed += 1;
      }
    };
    await Promise.all(Array.from({ length: PROCESSES }, killOneAfterAnother));
    const [pushed, settled] = ['pushed', 'settled'].map((name) => linesOf(path.join(root, name)));
    const problems = await problemsOf(dir, pushed, settled);
    if (walBytes > 1e6 * WAL_LIMIT_MB) problems.push(`the log grew to ${walBytes} bytes`);
    const happened = { 'links acknowledged': pushed.length, 'pages acknowledged': settled.length };
    return { problems, times: killed, pages: settled.length, happened };
  },
};

/** What the writers noted after an answer; a line that was cut off by a kill does not count. */
function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number) : [];
}

async function problemsOf(dir, pushed, settled) {
  const problems = [];
  const database = openDatabase(dir);
  const integrity = database.readable.get`PRAGMA integrity_check`.integrity_check;
  if (integrity !== 'ok') problems.push(`integrity_check: ${integrity}`);
  const items = database.readable.all`SELECT text FROM item`.map(({ text }) => JSON.parse(text).page);
  await database.close();
  const unique = new Set(items);
  if (unique.size !== items.length) problems.push(`${items.length - unique.size} items are there twice`);
  const missing = settled.filter((page) => !unique.has(page));
  if (missing.length > 0) problems.push(`${missing.length} items of acknowledged pages are missing`);
  const frontier = await openFrontier(openOptions(dir, 'load'));
  for (const number of pushed) {
    const { seen } = await frontier.inspect(requestOf(number, 100));
    if (!seen) problems.push(`link ${number} was acknowledged and is not known`);
  }
  problems.push(...(await frontier.verify()));
  await frontier.close();
  return problems;
}

/**
 * SIGKILLs during commits of the embedded store: four processes push links, lease and settle without a pause, each is
 * killed at a random moment and replaced. Afterwards the file must be sound, every acknowledged link known, and the item
 * of every acknowledged page there once.
 *
 * Needs a build: `node scripts/proof/embedded-kills.mjs [kills]`, 1,000 by default. Exit code 1 when anything does not hold.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestOf } from '../../bench/frontier/requests.mjs';
import { openDatabase, openFrontier } from '../../dist/internal.js';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { openOptions } from './open-options.mjs';

const PROCESSES = 4;
/** A process commits for at most so long before it is killed. */
const LONGEST_LIFE_MS = 400;
const kills = Number(process.argv[2] ?? 1_000);
const child = fileURLToPath(new URL('./embedded-kills/writer.mjs', import.meta.url));
const root = await tempDir('kills');
const dir = path.join(root, '.crawlnode');
let killed = 0;
let started = 0;

try {
  await Promise.all(Array.from({ length: PROCESSES }, killOneAfterAnother));
  const acknowledged = linesOf('pushed');
  const settled = linesOf('settled');
  const problems = await problemsOf(acknowledged, settled);
  console.log(
    `${killed} processes killed; ${acknowledged.length} links and ${settled.length} pages were acknowledged`,
  );
  console.log(problems.length === 0 ? 'held' : `FAILED: ${problems.join('; ')}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await cleanUp();
}

async function killOneAfterAnother() {
  while (killed < kills) {
    started += 1;
    const writer = fork(child, [dir, root, String(started)]);
    await Promise.race([once(writer, 'message'), once(writer, 'exit')]);
    if (writer.exitCode !== null) throw new Error(`a writer ended by itself with ${writer.exitCode}`);
    await sleep(Math.random() * LONGEST_LIFE_MS);
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    killed += 1;
  }
}

/** What the writers noted after an answer; a line that was cut off by a kill does not count. */
function linesOf(name) {
  const file = path.join(root, name);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number);
}

async function problemsOf(acknowledged, settled) {
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
  for (const number of acknowledged) {
    const { seen } = await frontier.inspect(requestOf(number, 100));
    if (!seen) problems.push(`link ${number} was acknowledged and is not known`);
  }
  problems.push(...(await frontier.verify()));
  await frontier.close();
  return problems;
}

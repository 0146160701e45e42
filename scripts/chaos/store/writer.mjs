/** One of the processes of commit-kills.mjs: push, lease and settle until killed, and note each answer in a file. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { requestOf } from '../../../bench/frontier/requests.mjs';
import { joinOptions } from '../../../bench/frontier/stage.mjs';
import { openFrontier } from '../../../dist/internal.js';
import { openOptions } from '../harness/open-options.mjs';

const [dir = '', notes = '', life = '0'] = process.argv.slice(2);
const PUSH = 20;
const LEASE = 8;
const PER_LIFE = 100_000;
const done = { kind: 'done', reason: 'finished', status: 200, attempts: 1 };

const frontier = await openFrontier(openOptions(dir, 'load'));
await frontier.join({ id: `writer-${life}`, host: 'localhost', pid: process.pid }, joinOptions);
process.send('ready');

for (let from = Number(life) * PER_LIFE; ; from += PUSH) {
  if (from % 200 === 0) await frontier.recover();
  const numbers = Array.from({ length: PUSH }, (_, n) => from + n);
  const pushed = frontier.push(
    numbers.map((number) => requestOf(number, 100)),
    'links',
  );
  const { leases } = await frontier.lease(LEASE, 0);
  await Promise.all(leases.map(settle));
  await pushed;
  note('pushed', numbers);
}

/** A page's item bears the page's own number, so that it can be counted. */
async function settle(lease) {
  const page = Number.parseInt(lease.id.slice(0, 12), 16);
  const effects = { items: [JSON.stringify({ page })], feedItems: [], requests: [], stats: {} };
  const { committed } = await frontier.settle(lease, done, effects);
  if (committed) note('settled', [page]);
}

function note(name, numbers) {
  appendFileSync(path.join(notes, name), numbers.map((number) => `${number}\n`).join(''));
}

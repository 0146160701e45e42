// `npm run docs:recording`: draw docs/three-nodes.svg from a real crawl. Three nodes crawl the demo's site on the demo's store, each in a
// terminal of its own, and one is killed while it holds leases. A fourth terminal shows the commands of the user. Every line is the
// output of the command above it. Run by hand; it needs redis-server, and `script` of util-linux for the terminals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stats } from '../../dist/index.js';
import { openStore } from '../demo/open-store.mjs';
import { startSite } from '../demo/start-site.mjs';
import { drawRecording } from './draw-recording.mjs';
import { TerminalScreen } from './terminal-screen.mjs';

const columns = 88;
const killAfter = 130; // pages
const root = fileURLToPath(new URL('../..', import.meta.url));
const project = path.join(root, '.demo', String(process.pid));
delete process.env.REDIS_URL; // a server of its own

await cp(path.join(root, 'scripts/demo/project'), project, { recursive: true });
await mkdir(path.join(project, 'bin'));
await symlink(path.join(root, 'bin/crawlnode.js'), path.join(project, 'bin/crawlnode'));
const store = await openStore(project);
await appendFile(path.join(project, 'crawlnode.yaml'), `REDIS_URL: ${store.settings.REDIS_URL}\n`);
const site = await startSite();
const startMs = performance.now();
const nodes = ['node 1', 'node 2, killed from the last terminal', 'node 3'].map((title) =>
  terminal(title, 2),
);
const user = terminal('the last terminal', 20);

try {
  const crawl = (n) =>
    `crawlnode crawl demo -a start=${site.origins[0]}/ --node-id node-${n} --exit-when-done`;
  const ended = nodes.map((node, i) => run(node, crawl(i + 1), `node-${i + 1}`));
  while ((await site.ask('count')).count < killAfter) await sleep(50);
  const look = 'crawlnode stats demo | grep -E "pending|node-"';
  await run(user, look);
  await run(user, `kill -9 ${await readFile(path.join(project, 'node-2.pid'), 'utf8')}`.trim());
  await run(user, look);
  while (await isHeldByNode2()) await sleep(50);
  await run(user, look);
  await Promise.all(ended);
  await run(user, 'crawlnode items demo export -o books.jsonl > /dev/null; wc -l books.jsonl');
  await run(user, `grep -o '"url":"[^"]*"' books.jsonl | sort | uniq | wc -l`);
} finally {
  site.stop();
  await store.stop();
}
const svg = drawRecording([...nodes, user], columns, performance.now() - startMs);
await writeFile(path.join(root, 'docs/three-nodes.svg'), svg);
await rm(project, { recursive: true, force: true });
console.log(`docs/three-nodes.svg: ${(svg.length / 1024).toFixed(1)} KB`);

/** Whether the dead node still holds leases. */
async function isHeldByNode2() {
  const { nodes: live, silentNodes } = await stats('demo', { settings: store.settings });
  return [...live, ...silentNodes].some(({ id, leased }) => id === 'node-2' && leased > 0);
}

/** A terminal whose lines are recorded: `snapshots` has its rows at each instant at which they changed. */
function terminal(title, rows) {
  return { title, rows, screen: new TerminalScreen(), snapshots: [] };
}

/** Type a command into a terminal and run it there. With `name`, the file NAME.pid has its process id. */
async function run(term, command, name) {
  const { screen, rows } = term;
  let isDue = false;
  const record = () => {
    isDue = false;
    term.snapshots.push({ atMs: performance.now() - startMs, lines: screen.lines().slice(-rows) });
  };
  screen.write(`\x1b[1m$ ${command}\x1b[0m\r\n`);
  record();
  const pid = name === undefined ? '' : `echo $$ > ${name}.pid; exec `;
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows 24; ${pid}${command}`, '/dev/null'], {
    cwd: project,
    env: { ...process.env, PATH: `${path.join(project, 'bin')}:${process.env.PATH}`, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', (text) => {
    screen.write(text);
    // What arrives together is one update of the screen.
    if (!isDue) setTimeout(record, 30);
    isDue = true;
  });
  await once(child, 'close');
  record();
}

/** A damaged store of the embedded engine: every command says what to do, and `doctor --repair` saves what can be read. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/disk/sqlite.js';
import { bootId } from '../../src/frontier/embedded/file/processes.js';
import { runHere } from '../helpers/cli/run-here.js';
import { expectSound } from '../helpers/expect-sound.js';
import { createProject, type Project } from '../helpers/project.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { walk } from '../helpers/walk.js';

const spider = walk(`text: 'some text of a page '.repeat(2_000)`);
const PAGE_BYTES = 4096;

/** Overwrite a part of a file. */
function overwrite(file: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

const halve = (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2));
const damages: readonly [string, (file: string) => void][] = [
  ['cut to its half', halve],
  ['cut to 8,192 bytes', (file) => truncateSync(file, 8_192)],
  ['cut to 100 bytes', (file) => truncateSync(file, 100)],
  ['emptied', (file) => truncateSync(file, 0)],
  ['whose header is overwritten', (file) => overwrite(file, 0, randomBytes(100))],
  [
    'zeroed from its second page on',
    (file) => overwrite(file, PAGE_BYTES, Buffer.alloc(statSync(file).size - PAGE_BYTES)),
  ],
];

interface Counts {
  readonly pending: number;
  readonly done: number;
  readonly seen: number;
  readonly lost: number;
  readonly items: number;
}

interface Found {
  readonly findings: readonly { readonly level: string; readonly check: string; readonly message: string }[];
}

describe('a store', { timeout: 240_000 }, () => {
  let whole: Project;
  let site: Site;
  const projects: Project[] = [];
  const settings = { ROBOTSTXT_OBEY: false, NODE_TIMEOUT: 4, HEARTBEAT_INTERVAL: 1 };
  beforeAll(async () => {
    site = await startSite({ pages: 60 });
    whole = await createProject({
      settings,
      files: { 'spiders/walk.ts': spider },
    });
    projects.push(whole);
    expect(await crawl(whole, '--max-pages', '20')).toMatchObject({ code: 0 });
    // So that what is damaged is the only copy: without this, the log makes good what the file has lost.
    const connection = connect(whole.path('.crawlnode', 'frontier.db'));
    connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    connection.close();
  });
  afterAll(async () => {
    await site.close();
    for (const project of projects) await project.remove();
  });

  const crawl = (project: Project, ...args: string[]) =>
    runHere(['crawl', 'walk', '-a', `start=${site.url}`, ...args], { cwd: project.dir });

  async function copyOf(project: Project): Promise<{ copy: Project; file: string }> {
    const copy = await createProject({
      settings,
      files: { 'spiders/walk.ts': spider },
    });
    projects.push(copy);
    // Node 24's cpSync does not keep the modes of folders.
    execFileSync('cp', ['-a', project.path('.crawlnode'), copy.path('.crawlnode')]);
    return { copy, file: copy.path('.crawlnode', 'frontier.db') };
  }

  const statsOf = async (project: Project) =>
    JSON.parse((await runHere(['stats', 'walk', '--json'], { cwd: project.dir })).stdout) as Counts;

  it.each(damages)(
    '%s ends every command with what to do, is repaired, and the crawl goes on',
    async (_, damage) => {
      const { copy, file } = await copyOf(whole);
      damage(file);
      const cwd = copy.dir;
      for (const args of [
        ['stats', 'walk'],
        ['doctor', 'walk', '--deep'],
        ['seed', 'walk', site.url],
        ['forget', 'walk', site.url],
        ['reset', 'walk', '--all', '--yes'],
        ['crawl', 'walk', '-a', `start=${site.url}`],
      ]) {
        const { copy: victim } = await copyOf(copy);
        const { code, stdout, stderr } = await runHere(args, { cwd: victim.dir });
        const said = `${args.join(' ')}: ${stdout}${stderr}`;
        // A command that needs none of the damaged pages may do its work.
        if (code === 0) continue;
        expect(code, said).toBe(1);
        expect(said).toContain('is damaged');
        expect(said).toContain('doctor walk --repair');
      }
      const repair = await runHere(['doctor', 'walk', '--repair', '--json'], { cwd });
      expect(repair, repair.stderr).toMatchObject({ code: 1 });
      const { findings } = JSON.parse(repair.stdout) as Found;
      expect(findings).toContainEqual(expect.objectContaining({ level: 'problem', check: 'damaged_store' }));
      const { items } = await statsOf(whole);
      const isWhole = (await statsOf(copy)).items === items;
      expect(findings.some(({ check }) => check === 'lost')).toBe(!isWhole);
      expect(readdirSync(copy.path('.crawlnode'))).toContainEqual(
        expect.stringMatching(/^frontier\.db\.damaged-.*Z$/),
      );
      // Requests whose records are lost stay a finding, and a crawl that finishes with some exits 1.
      const areLost = findings.some(({ check }) => check === 'requests_lost');
      await expectSound('walk', { cwd, except: areLost ? ['requests_lost'] : [] });
      expect(await crawl(copy, '--exit-when-done')).toMatchObject({ code: areLost ? 1 : 0 });
      await expectSound('walk', { cwd, except: areLost ? ['requests_lost'] : [] });
    },
  );

  it('whose header and map of pages alone are damaged loses nothing', async () => {
    const before = await statsOf(whole);
    const { copy, file } = await copyOf(whole);
    overwrite(file, 0, randomBytes(16));
    // The map of which page belongs to which table.
    overwrite(file, PAGE_BYTES, Buffer.alloc(PAGE_BYTES));
    const { stdout } = await runHere(['doctor', 'walk', '--repair', '--json'], { cwd: copy.dir });
    expect((JSON.parse(stdout) as Found).findings.filter(({ check }) => check === 'lost')).toEqual([]);
    const { pending, done, seen, items } = before;
    expect(await statsOf(copy)).toMatchObject({ pending, done, seen, items });
    expect(await crawl(copy, '--exit-when-done')).toMatchObject({ code: 0 });
    expect(await statsOf(copy)).toMatchObject({ pending: 0, done: 60, items: 60 });
  });

  it('that lost pages says how many requests and fingerprints went with them', async () => {
    const before = await statsOf(whole);
    const { copy, file } = await copyOf(whole);
    halve(file);
    const { stdout } = await runHere(['doctor', 'walk', '--repair', '--json'], { cwd: copy.dir });
    const lost = (JSON.parse(stdout) as Found).findings.filter(({ check }) => check === 'lost');
    const after = await statsOf(copy);
    const said = lost.map(({ message }) => message).join('\n');
    const missing = before.items - after.items;
    if (missing > 0) expect(said).toContain(`walk:items: ${missing} of ${before.items} entries`);
    // The fingerprint of a request whose record is lost is forgotten, so that a link brings it back.
    const unseen = before.seen - after.seen - after.lost;
    if (unseen > 0) expect(said).toMatch(/walk:dupefilter: \d+ of \d+ fingerprints/);
    const isSaid = (JSON.parse(stdout) as Found).findings.some(({ check }) => check === 'requests_lost');
    expect(isSaid).toBe(after.lost > 0);
    expect(missing + unseen + after.lost + before.pending - after.pending).toBeGreaterThan(0);
    expect(lost.length + after.lost).toBeGreaterThan(0);
  });

  it('whose crawl has lost the name of its key has it again with the next command, and loses nothing', async () => {
    const { copy, file } = await copyOf(whole);
    const connection = connect(file);
    connection.exec("DELETE FROM space WHERE name = 'walk:requests'");
    connection.close();
    const cwd = copy.dir;
    const { code, stdout } = await runHere(['doctor', 'walk', '--deep'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('could not be read') });
    await expectSound('walk', { cwd });
    expect(await crawl(copy, '--exit-when-done')).toMatchObject({ code: 0 });
    expect(await statsOf(copy)).toMatchObject({ pending: 0, done: 60, items: 60 });
  });

  it('whose log is damaged opens at an earlier state, or is repaired', async () => {
    const { copy, file } = await copyOf(whole);
    if (statSync(`${file}-wal`, { throwIfNoEntry: false }) === undefined) copyFileSync(file, `${file}-wal`);
    overwrite(`${file}-wal`, 0, randomBytes(PAGE_BYTES));
    const { code, stdout, stderr } = await runHere(['doctor', 'walk', '--deep'], { cwd: copy.dir });
    if (code !== 0) expect(`${stdout}${stderr}`).toContain('is damaged');
    await runHere(['doctor', 'walk', '--repair'], { cwd: copy.dir });
    await expectSound('walk', { cwd: copy.dir });
    expect(await crawl(copy, '--exit-when-done')).toMatchObject({ code: 0 });
  });

  it.runIf(process.platform === 'linux')('is not saved while a node has it open', async () => {
    const { copy, file } = await copyOf(whole);
    const user = {
      bootId: bootId(),
      pidNamespace: readlinkSync('/proc/self/ns/pid'),
      host: hostname(),
      // The command runs in this process; another one that lives is the one that started it.
      pid: process.ppid,
    };
    await copy.write('.crawlnode/users/1-aaaa.json', JSON.stringify(user));
    overwrite(file, 0, randomBytes(100));
    const { code, stderr } = await runHere(['doctor', 'walk', '--repair'], { cwd: copy.dir });
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('open, and would go on') });
  });
});

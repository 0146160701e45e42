/** The environment of a folder, opened and closed by processes that know nothing of each other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenStore, openStore } from '../src/frontier/embedded/store.js';
import { tally } from './embedded-store-child.js';
import { type TempDir, tempDir } from './helpers/temp-dir.js';

const script = fileURLToPath(new URL('./embedded-store-child.ts', import.meta.url));

describe('the environment of a folder', () => {
  let folder: TempDir;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = tempDir('store');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await folder.remove();
  });

  /** A process that opens, commits and closes so often. */
  function start(times: number): ChildProcess {
    const child = spawn(process.execPath, ['--import', 'tsx', script, folder.dir, String(times)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    return child;
  }

  async function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await once(child, 'close');
    return { code: child.exitCode, said };
  }

  const made = (store: OpenStore) => Number(store.db.get(tally)?.toString() ?? 0);

  it('lets in all that come while others go, and loses no commit', async () => {
    const ends = await Promise.all([150, 150, 150].map((times) => ended(start(times))));
    expect(ends).toEqual(Array(3).fill({ code: 0, said: '' }));
    const store = openStore(folder.dir);
    expect(made(store)).toBe(450);
    await store.close();
  });

  it.runIf(process.platform === 'linux')('is not touched by one that opens it during a commit', async () => {
    const store = openStore(folder.dir);
    let opened: string[] = [];
    let child: ChildProcess | undefined;
    store.transact(() => {
      child = start(1);
      opened = openedUntilItWaits(child.pid!, folder.dir);
      store.db.putSync(tally, Buffer.from('1'));
    });
    expect(opened).toContain('lock/lock.mdb');
    expect(opened).not.toContain('frontier/lock.mdb');
    expect(await ended(child!)).toEqual({ code: 0, said: '' });
    store.refresh();
    expect(made(store)).toBe(2);
    await store.close();
  });
});

/** What a process has open of a folder once it stands still there. No promise can be awaited within a commit. */
function openedUntilItWaits(pid: number, dir: string): string[] {
  const deadline = Date.now() + 20_000;
  for (let still = 0, before = ''; Date.now() < deadline; ) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    const opened = openOf(pid, dir);
    const now = opened.some((file) => file.endsWith('.mdb')) ? switches(pid) : '';
    still = now !== '' && now === before ? still + 1 : 0;
    before = now;
    if (still === 20) return opened;
  }
  throw new Error('the process did not come to wait for the folder');
}

function openOf(pid: number, dir: string): string[] {
  const files = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
  return files.flatMap((file) => (file.startsWith(`${dir}/`) ? [file.slice(dir.length + 1)] : []));
}

/** How often the main thread has been put to sleep and woken: of one that waits it does not change. */
function switches(pid: number): string {
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8');
  return (status.match(/ctxt_switches:\s*\d+/g) ?? []).join();
}

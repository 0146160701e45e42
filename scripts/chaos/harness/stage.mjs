/** What a row has started is ended with it, and nothing of the rows beside it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What is still to be ended: of each `onOwnStage`, and of everything outside one. And the executable whose nodes run there. */
const stages = new AsyncLocalStorage();
const built = fileURLToPath(new URL('../../../bin/crawlnode.js', import.meta.url));
const outermost = { cleanUps: [], executable: built };
const stage = () => stages.getStore() ?? outermost;

/** Have something done at the end of the stage. */
export function atCleanUp(clean) {
  stage().cleanUps.push(clean);
}

/** The executable of the stage. */
export const executable = () => stage().executable;

/** Run a row, then end all that it started, newest first. @param ownExecutable in place of that of the last build */
export async function onOwnStage(run, ownExecutable = executable()) {
  return stages.run({ cleanUps: [], executable: ownExecutable }, async () => {
    try {
      return await run();
    } finally {
      for (const clean of stage().cleanUps.splice(0).reverse()) await clean().catch(() => {});
    }
  });
}

/** A folder that is removed with the stage. */
export async function tempDir(name) {
  const dir = await mkdtemp(path.join(tmpdir(), `crawlnode-chaos-${name}-`));
  atCleanUp(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A condition, with a bound. `everyMs`: how often it is asked. */
export async function until(condition, what, timeoutMs = 60_000, everyMs = 10) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(everyMs);
  }
}

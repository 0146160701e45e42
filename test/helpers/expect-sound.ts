/** Every end-to-end test ends here: `crawlnode doctor --deep`, in this process, finds its crawl sound. */
import { expect } from 'vitest';
import { runHere } from './cli/run-here.js';

interface Found {
  readonly findings: readonly { readonly level: string; readonly check: string; readonly message: string }[];
}

/** What a test leaves on purpose, by the name of the check. */
export interface SoundOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly job?: string;
  readonly except?: readonly string[];
}

/** Run doctor on the crawls of these spiders, and expect no problem. */
export async function expectSound(
  spiders: string | readonly string[],
  { cwd, env = {}, job, except = [] }: SoundOptions,
): Promise<void> {
  for (const spider of [spiders].flat()) {
    const args = ['doctor', spider, '--deep', '--json', ...(job === undefined ? [] : ['--job', job])];
    const { stdout, stderr, code } = await runHere(args, { cwd, env });
    expect(stdout, `${stderr} (exit ${code})`).not.toBe('');
    const { findings } = JSON.parse(stdout) as Found;
    const problems = findings.filter(({ level, check }) => level === 'problem' && !except.includes(check));
    expect(problems, `doctor ${spider} --deep`).toEqual([]);
  }
}

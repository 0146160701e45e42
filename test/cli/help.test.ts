/** What `--help` shows of every command, in this process. */
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { runHere } from '../helpers/cli/run-here.js';

describe.each(Object.keys(commands))('crawlnode %s --help', (name) => {
  it('has a sentence and an example that calls it', async () => {
    const { code, stdout } = await runHere([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[A-Z].{40,}$/m);
    const examples = /^Examples?:\n((?: {2}.*\n)+)/m.exec(stdout)?.[1];
    expect(examples).toContain(`crawlnode ${name}`);
  });

  it('fits the terminal, but for lines to be copied', async () => {
    for (const columns of [60, 100]) {
      const { stdout } = await runHere([name, '--help'], { isTTY: true, columns });
      const wrapped = stdout.split('\n').filter((line) => !/^ {2}/.test(line));
      for (const line of wrapped) expect(line.length, line).toBeLessThanOrEqual(columns);
    }
  });

  it('has examples of at most 100 columns', async () => {
    const { stdout } = await runHere([name, '--help']);
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
  });
});

describe('the help of the program', () => {
  it('lists the global options with their values, which the commands only name', async () => {
    const { stdout } = await runHere(['--help']);
    expect(stdout).toMatch(/--level <level> +log level: DEBUG, INFO, WARNING, ERROR or CRITICAL/);
    expect((await runHere(['list', '--help'])).stdout).toContain('-s NAME=VALUE, -L LEVEL, --logfile FILE');
  });

  it('help COMMAND is the same as COMMAND --help', async () => {
    expect((await runHere(['help', 'seed'])).stdout).toBe((await runHere(['seed', '--help'])).stdout);
  });
});

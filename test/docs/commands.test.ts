/** Every command line in the docs names a command and options that there are. */
import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { wholeProgram } from '../../scripts/docs/commands-page.js';
import { commands } from '../../src/cli/commands.js';
import { pages, writtenPages } from './pages.js';
import { typedCommands } from './typed-commands.js';

/** Options of other programs that the docs name by themselves. */
const foreignOptions = new Set(['--init', '--help', '--max-semi-space-size', '--cpu-prof', '--time']);

describe('command lines in the docs', () => {
  it('parse', async () => {
    const wrong: string[] = [];
    let parsed = 0;
    for (const page of pages) {
      for (const words of typedCommands(page)) {
        const problem = await problemOf(words);
        if (problem !== null) wrong.push(`${page.file}: crawlnode ${words.join(' ')}: ${problem}`);
        parsed += 1;
      }
    }
    expect(wrong).toEqual([]);
    expect(parsed).toBeGreaterThan(100);
  });

  it('name no option by itself that no command has', async () => {
    const program = await wholeProgram();
    const known = new Set(
      [program, ...program.commands].flatMap(({ options }) => options.map(({ long }) => long)),
    );
    // docs/internals/ names options of benches and of V8 too.
    const forUsers = writtenPages.filter(({ file }) => !file.startsWith('docs/internals/'));
    const unknown = forUsers.flatMap(({ file, inlineCode }) =>
      inlineCode
        .flatMap((text) => /^(--[a-z-]+)(?=$|[ =])/.exec(text)?.[1] ?? [])
        .filter((option) => !known.has(option) && !foreignOptions.has(option))
        .map((option) => `${file}: ${option}`),
    );
    expect(unknown).toEqual([]);
  });

  it('are parsed by a parser that would refuse them', async () => {
    expect(await problemOf(['crawl', 'shop', '--exit-when-don'])).toContain('--exit-when-don');
    expect(await problemOf(['crwl', 'shop'])).toContain('crwl');
    expect(await problemOf(['inspect'])).toContain('spider');
  });
});

/** What commander says of a command line; null when it takes it. */
async function problemOf(words: readonly string[]): Promise<string | null> {
  const program = await wholeProgram();
  for (const command of [program, ...program.commands]) quiet(command);
  const name = words.find((word) => !word.startsWith('-'));
  if (name !== undefined && name !== 'help' && !Object.hasOwn(commands, name))
    return `there is no command ${name}`;
  try {
    await program.parseAsync([...words], { from: 'user' });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : error.message;
  }
}

function quiet(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
}

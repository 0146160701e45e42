/** Completion scripts, in the shells that they are for. Shells that this machine lacks are skipped; bash never is. */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable } from '../../helpers/cli.js';
import { createProject, type Project } from '../../helpers/project.js';

let project: Project;
beforeAll(async () => {
  project = await createProject();
  const spider = (name: string) => `export default class Any extends Spider { name = '${name}'; }`;
  await project.write('spiders/online-shop.ts', spider('shop'));
  // The name would run a command, were it expanded.
  await project.write('spiders/bad.ts', spider('a$(touch EXPANDED)'));
  await project.write('spiders/press/news.js', spider('news'));
  await project.write('spiders/helper.js', 'export const any = 1;');
  // The script runs the crawlnode of the PATH.
  await project.write('bin/crawlnode', `#!/bin/sh\nexec "${process.execPath}" "${executable}" "$@"\n`);
  chmodSync(project.path('bin/crawlnode'), 0o755);
  await project.write('saved.html', '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    await project.write(`${shell}.script`, (await runHere(['completion', shell])).stdout);
  }
});
afterAll(() => project.remove());

function shell(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const { stdout, stderr, error } = spawnSync(name, args, {
    cwd: project.dir,
    encoding: 'utf8',
    env: { PATH: pathOfShells(), HOME: project.dir, TERM: 'dumb', ...env },
    timeout: 60_000,
  });
  if (error) throw error;
  expect(stderr).toBe('');
  return stdout;
}

const pathOfShells = () => `${project.path('bin')}:${process.env.PATH}`;

/** It gives a command a terminal. */
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
const has = (name: string) => spawnSync(name, ['-c', 'true']).status === 0;

/** What crawlnode offers a shell at the end of a line. */
async function offered(line: string): Promise<string[]> {
  const words = line.split(' ').slice(1);
  const { stdout, stderr } = await runHere(['completion', 'words', '--', ...words], { cwd: project.dir });
  expect(stderr).toBe('');
  return lines(stdout).map((each) => each.split('\t')[0]!);
}

/** What Tab offers in bash for the last word, which bash divides at = and : too. */
function inBash(line: string): string[] {
  const code = `source bash.script
COMP_LINE=$1; COMP_POINT=\${#1}
_crawlnode
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(shell('bash', ['--norc', '-c', code, 'bash', line]));
}

/** With the descriptions left out. */
function inFish(line: string): string[] {
  const out = shell('fish', ['--no-config', '-c', 'source fish.script; complete -C "$argv[1]"', line]);
  return lines(out).map((each) => each.split('\t')[0]!);
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

describe('what is offered', () => {
  it('completes commands, and the commands that help explains', async () => {
    expect(await offered('crawlnode ')).toEqual([...Object.keys(commands), 'help']);
    expect(await offered('crawlnode gen')).toEqual(['genspider']);
    expect(await offered('crawlnode help fai')).toEqual(['failed']);
    expect(await offered('crawlnode -c a.yaml -s A=b --json cra')).toEqual(['crawl']);
  });

  it('completes the options of the command and those of every command', async () => {
    expect(await offered('crawlnode crawl shop --ex')).toEqual(['--exit-when-done']);
    expect(await offered('crawlnode stats --exit')).toEqual([]);
    expect(await offered('crawlnode stats --lev')).toEqual(['--level']);
    expect(await offered('crawlnode crawl shop -o x.jsonl -s A=http://b.example/ --max-')).toEqual([
      '--max-pages',
      '--max-failed',
      '--max-status',
    ]);
  });

  it('completes the spiders of the project by their names, and expands none', async () => {
    expect(await offered('crawlnode crawl ')).toEqual(['news', 'shop']);
    expect(await offered('crawlnode crawl sh')).toEqual(['shop']);
    expect(await offered('crawlnode settings --spider ne')).toEqual(['news']);
    expect(await offered('crawlnode crawl shop ')).toEqual([]);
    expect(project.exists('EXPANDED')).toBe(false);
  });

  it('completes choices, settings and actions; files are left to the shell', async () => {
    expect(await offered('crawlnode failed shop ')).toEqual(['summary', 'list', 'retry', 'purge']);
    expect(await offered('crawlnode genspider a b.example --template ')).toEqual(['basic', 'crawl']);
    expect(await offered('crawlnode crawl shop -s DOWNLOAD_DEL')).toEqual(['DOWNLOAD_DELAY=']);
    expect(await offered('crawlnode crawl shop -o sav')).toEqual([]);
  });

  it('completes values of which there are a few, of options and of settings', async () => {
    expect(await offered('crawlnode crawl shop -L WAR')).toEqual(['WARNING']);
    expect(await offered('crawlnode reset shop --only que')).toEqual(['queue']);
    expect(await offered('crawlnode failed shop list --reason timeo')).toEqual(['timeout']);
    expect(await offered('crawlnode seed shop --format ')).toEqual(['csv', 'jsonl']);
    expect(await offered('crawlnode crawl shop -s LOG_LEVEL=')).toContain('LOG_LEVEL=DEBUG');
    expect(await offered('crawlnode crawl shop -s LOG_LEVEL=DEB')).toEqual(['LOG_LEVEL=DEBUG']);
    expect(await offered('crawlnode crawl shop --set ROBOTSTXT_OBEY=f')).toEqual(['ROBOTSTXT_OBEY=false']);
    expect(await offered('crawlnode crawl shop -s USER_AGENT=')).toEqual([]);
    expect(await offered('crawlnode crawl shop -a LOG_LEVEL=DEB')).toEqual([]);
  });
});

describe('bash', () => {
  it('completes commands, options, spiders, choices, settings and their values; files are left to bash', () => {
    expect(inBash('crawlnode gen')).toEqual(['genspider']);
    expect(inBash('crawlnode crawl shop --ex')).toEqual(['--exit-when-done']);
    expect(inBash('crawlnode crawl sh')).toEqual(['shop']);
    expect(inBash('crawlnode failed shop ')).toEqual(['summary', 'list', 'retry', 'purge']);
    expect(inBash('crawlnode stats -s DOWNLOAD_DEL')).toEqual(['DOWNLOAD_DELAY=']);
    expect(inBash('crawlnode stats -s LOG_LEVEL=DEB')).toEqual(['DEBUG']);
    expect(inBash('crawlnode crawl shop -o sav')).toEqual([]);
    expect(project.exists('EXPANDED')).toBe(false);
  });

  it.skipIf(!hasScript)('works in an interactive bash, also where the script was read twice', () => {
    const typed =
      'source bash.script; source bash.script\ncrawlnode cra\t\ncrawlnode crawl sh\t\ncrawlnode -s SCHEDULER_QUEUE_CLASS=Lif\t\nexit\n';
    const { stdout } = spawnSync('script', ['-qec', 'bash --norc -i', '/dev/null'], {
      ...{ cwd: project.dir, input: typed, encoding: 'utf8', timeout: 60_000 },
      env: { PATH: pathOfShells(), HOME: project.dir, TERM: 'dumb', PS1: '$ ' },
    });
    expect(stdout).toContain('crawlnode crawl ');
    expect(stdout).toContain('crawlnode crawl shop ');
    expect(stdout).toContain('crawlnode -s SCHEDULER_QUEUE_CLASS=LifoQueue ');
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  it('completes commands, options, spiders, choices, settings and files', () => {
    expect(inFish('crawlnode gen')).toEqual(['genspider']);
    expect(inFish('crawlnode crawl shop --ex')).toEqual(['--exit-when-done']);
    expect(inFish('crawlnode crawl sh')).toEqual(['shop']);
    expect(inFish('crawlnode genspider a b.example --template ')).toContain('basic');
    expect(inFish('crawlnode stats -s DOWNLOAD_DEL')).toEqual(['DOWNLOAD_DELAY=']);
    expect(inFish('crawlnode stats -s LOG_LEVEL=DEB')).toEqual(['LOG_LEVEL=DEBUG']);
    expect(inFish('crawlnode stats -L CRI')).toEqual(['CRITICAL']);
    expect(inFish('crawlnode crawl shop -o sav')).toEqual(['saved.html']);
    expect(project.exists('EXPANDED')).toBe(false);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  /** Types lines into an interactive zsh, presses Tab after each, and reads until the line is completed. */
  const typeInZsh = (lines: readonly (readonly [line: string, completed: string])[]) => {
    const typed = lines.map(
      ([line, completed]) => `zpty -w -n shell ${JSON.stringify(line)}$'\\t'
zpty -r -m shell out '*${completed}*'
print -r -- $out
zpty -w -n shell $'\\C-u'`,
    );
    const code = `zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source zsh.script; print READY$((1))'
zpty -r -m shell out '*READY1*'
${typed.join('\n')}
zpty -d shell`;
    return shell('zsh', ['-f', '-c', code]);
  };

  it('completes commands, options, spiders, choices and values of settings', () => {
    const lines = [
      ['crawlnode gensp', 'genspider'],
      ['crawlnode crawl shop --exit-w', 'exit-when-done'],
      ['crawlnode crawl sh', 'crawl shop'],
      ['crawlnode failed shop pur', 'purge'],
      ['crawlnode stats -L CRI', 'CRITICAL'],
      ['crawlnode stats -s LOG_LEVEL=DEB', 'LOG_LEVEL=DEBUG'],
    ] as const;
    const shown = typeInZsh(lines);
    for (const [, completed] of lines) expect(shown).toContain(completed);
    expect(project.exists('EXPANDED')).toBe(false);
  });
});

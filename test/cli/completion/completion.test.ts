/** Completion scripts, in the shells that they are for. Shells that this machine lacks are skipped; bash never is. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';

let project: Project;
beforeAll(async () => {
  project = await createProject();
  // The name of the second would run a command, were it expanded.
  for (const name of ['shop.ts', 'a$(touch EXPANDED).ts', 'news.js', 'notes.md']) {
    writeFileSync(project.path('spiders', name), '');
  }
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
    env: { PATH: process.env.PATH!, HOME: project.dir, TERM: 'dumb', ...env },
    timeout: 60_000,
  });
  if (error) throw error;
  expect(stderr).toBe('');
  return stdout;
}

/** It gives a command a terminal. */
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
const has = (name: string) => spawnSync(name, ['-c', 'true']).status === 0;

/** What Tab offers at the end of a line, by bash's own division of it into words. */
function inBash(line: string): string[] {
  // COMP_WORDBREAKS divides at = and : too.
  const words: string[] = line.match(/[=:]|[^\s=:]+/g) ?? [];
  if (/[\s=:]$/.test(line)) words.push('');
  const code = `source bash.script
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_crawlnode
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(shell('bash', ['--norc', '-c', code, 'bash', ...words]));
}

/** With the descriptions left out. */
function inFish(line: string): string[] {
  const out = shell('fish', ['--no-config', '-c', 'source fish.script; complete -C "$argv[1]"', line]);
  return lines(out).map((each) => each.split('\t')[0]!);
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

describe('bash', () => {
  it('completes commands, and the commands that help explains', () => {
    expect(inBash('crawlnode ')).toEqual([...Object.keys(commands), 'help']);
    expect(inBash('crawlnode gen')).toEqual(['genspider']);
    expect(inBash('crawlnode help fai')).toEqual(['failed']);
    expect(inBash('crawlnode -c a.yaml -s A=b --json cra')).toEqual(['crawl']);
  });

  it('completes the options of the command and those of every command', () => {
    expect(inBash('crawlnode crawl shop --ex')).toEqual(['--exit-when-done']);
    expect(inBash('crawlnode stats --exit')).toEqual([]);
    expect(inBash('crawlnode stats --lev')).toEqual(['--level']);
    expect(inBash('crawlnode crawl shop -o x.jsonl -s A=http://b.example/ --max-')).toEqual([
      '--max-pages',
      '--max-failed',
    ]);
  });

  it('completes spiders by their files, and expands no name', () => {
    expect(inBash('crawlnode crawl ')).toEqual(['shop', 'news']);
    expect(inBash('crawlnode crawl sh')).toEqual(['shop']);
    expect(inBash('crawlnode crawl shop ')).toEqual([]);
    expect(project.exists('EXPANDED')).toBe(false);
  });

  it('completes choices, settings and actions; files are left to bash', () => {
    expect(inBash('crawlnode failed shop ')).toEqual(['list', 'retry', 'purge']);
    expect(inBash('crawlnode genspider a b.example --template ')).toEqual(['basic', 'crawl']);
    expect(inBash('crawlnode crawl shop -s DOWNLOAD_DEL')).toEqual(['DOWNLOAD_DELAY=']);
    expect(inBash('crawlnode crawl shop -o sav')).toEqual([]);
  });

  it.skipIf(!hasScript)('works in an interactive bash, also where the script was read twice', () => {
    const typed = 'source bash.script; source bash.script\ncrawlnode cra\t\necho [done]\nexit\n';
    const { stdout } = spawnSync('script', ['-qec', 'bash --norc -i', '/dev/null'], {
      ...{ cwd: project.dir, input: typed, encoding: 'utf8', timeout: 60_000 },
      env: { PATH: process.env.PATH!, HOME: project.dir, TERM: 'dumb', PS1: '$ ' },
    });
    expect(stdout).toContain('crawlnode crawl ');
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  it('completes commands, options, spiders, choices, settings and files', () => {
    expect(inFish('crawlnode gen')).toEqual(['genspider']);
    expect(inFish('crawlnode crawl shop --ex')).toEqual(['--exit-when-done']);
    expect(inFish('crawlnode crawl sh')).toEqual(['shop']);
    expect(inFish('crawlnode genspider a b.example --template ')).toContain('basic');
    expect(inFish('crawlnode stats -s DOWNLOAD_DEL')).toEqual(['DOWNLOAD_DELAY=']);
    expect(inFish('crawlnode crawl shop -o sav')).toEqual(['saved.html']);
    expect(project.exists('EXPANDED')).toBe(false);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  /** Types a line into an interactive zsh, presses Tab, and reads until the line is completed. */
  const typeInZsh = (line: string, completed: string) => {
    const code = `zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source zsh.script; print READY$((1))'
zpty -r -m shell out '*READY1*'
zpty -w -n shell ${JSON.stringify(line)}$'\\t'
zpty -r -m shell out '*${completed}*'
print -r -- $out
zpty -d shell`;
    return shell('zsh', ['-f', '-c', code]);
  };

  it('completes commands, options and spiders', () => {
    for (const [line, completed] of [
      ['crawlnode gensp', 'genspider'],
      ['crawlnode crawl shop --exit-w', 'exit-when-done'],
      ['crawlnode crawl sh', 'crawl shop'],
      ['crawlnode failed shop pur', 'purge'],
    ] as const) {
      expect(typeInZsh(line, completed)).toContain(completed);
    }
    expect(project.exists('EXPANDED')).toBe(false);
  });
});

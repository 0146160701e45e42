/** What pages, seeds, the store and file names hold never acts on a terminal, whichever command shows it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable, runCli } from '../../helpers/cli.js';
import { createProject, type Project } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';

/** An escape sequence, a title of the window, C1 controls, and a text that runs from right to left. */
const hostile = 'A\x1b[2J\x1b[8mB\x1b]0;title\x07C\x9b31mD\u202etxt.exe\u2066E\x7f\rF\u2028G';
const unsafe = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** What a terminal program and our own colours and redraws send. */
const ours = /\x1b\[(?:(?:0|1|2|22|31|32|33|36|39)m|2K|[01]?[AGJ]|\?(?:25|2026)[hl])|\r(?=\n)|\x04|\x08/g;

const spider = `
import { Spider, type Response } from 'crawlnode';
const hostile = ${JSON.stringify(hostile)};
export default class extends Spider {
  name = 'news';
  *parse(response: Response) {
    this.log.warn({ hostile }, hostile);
    yield { hostile, [hostile]: 1 };
    if (response.url.endsWith('/')) throw new Error(hostile);
  }
  late() {
    setTimeout(() => { throw new Error(hostile); });
    return new Promise(() => {});
  }
}
`;

const hasScript = spawnSync('script', ['--version']).error === undefined;

/**
 * A command as a user sees it: in a pipe, or on a terminal. A crawl, and a callback that throws later, have a process of their
 * own, and the terminal is one that script(1) makes.
 */
async function shown(project: Project, onTerminal: boolean, ...args: string[]): Promise<string> {
  if (args[0] !== 'crawl' && !args.includes('late')) {
    const { stdout, stderr } = await runHere(args, { cwd: project.dir, isTTY: onTerminal });
    return (stdout + stderr).replace(ours, '');
  }
  if (!onTerminal) {
    const { stdout, stderr } = await runCli(args, { cwd: project.dir });
    return stdout + stderr;
  }
  const quoted = [process.execPath, executable, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const child = spawn('script', ['-qec', quoted.join(' '), '/dev/null'], {
    cwd: project.dir,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  return output.replace(ours, '');
}

describe.each([['in a pipe', false], ...(hasScript ? [['on a terminal', true] as const] : [])] as const)(
  '%s',
  (_, onTerminal) => {
    it('escape sequences and changes of direction show instead of acting', async () => {
      const project = await createProject({
        files: { 'spiders/news.ts': spider },
        settings: { ROBOTSTXT_OBEY: false, RETRY_TIMES: 0 },
      });
      const site = await startSite({
        handler: (_request, response) => {
          response.setHeader('content-type', 'text/html; charset=utf-8');
          response.end(`<title>${hostile}</title>${hostile}`);
          return true;
        },
      });
      await project.write(
        'seeds.txt',
        `${site.url}\n${site.url}x\n{"url":"${hostile}"}\n${hostile}\nhttp://[${hostile}\n`,
      );
      const show = (...args: string[]) => shown(project, onTerminal, ...args);
      const seen: Record<string, string> = {};
      for (const args of [
        ['seed', 'news', '--file', 'seeds.txt'],
        ['seed', 'news', '--file', 'seeds.txt', '--json'],
        ['crawl', 'news', '--exit-when-done', '-o', `${hostile.replaceAll('\r', '')}.jsonl`],
        ['stats', 'news'],
        ['failed', 'news', 'list'],
        ['failed', 'news', 'list', '--json'],
        ['inspect', 'news', site.url],
        ['inspect', 'news', site.url, '--json'],
        ['fetch', site.url, '--json'],
        ['parse', `${site.url}x`, '--spider', 'news'],
        ['parse', site.url, '--spider', 'news'],
        ['parse', site.url, '--spider', 'news', '--callback', 'late'],
        ['parse', site.url, '--spider', 'news', '--callback', hostile],
        ['fetch', `http://127.0.0.1:1/${hostile}`],
        ['doctor', 'news'],
        ['stats', hostile],
        [hostile],
        ['seed', 'news', '--file', hostile],
        ['settings', '-s', `${hostile}=1`],
        ['list', '-c', hostile],
        ...(onTerminal
          ? [
              ['fetch', site.url],
              ['fetch', site.url, '--headers'],
            ]
          : []),
      ]) {
        seen[args.join(' ')] = await show(...args);
      }
      await site.close();
      for (const [args, text] of Object.entries(seen)) {
        const found = text.replaceAll('\n', ' ').match(unsafe);
        expect(
          found === null ? null : text.slice(Math.max(0, found.index! - 60), found.index! + 20),
          args,
        ).toBeNull();
      }
      expect(seen['failed news list']).toContain('\\x1b[2J');
      expect(Object.values(seen).join('')).toContain('\\u202etxt.exe');
      await project.remove();
    });
  },
);

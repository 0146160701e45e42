/** Crawl a spider of a project through the command line of this process, and read what it gave. */
import type { Project } from '../project.js';
import { runHere } from './run-here.js';

export { createProject } from '../project.js';

/** A crawl that came to its end. */
export interface Crawled {
  readonly code: number;
  /** The summary as `--json` prints it. */
  readonly summary: Record<string, unknown> & { readonly deadEnds: readonly Record<string, unknown>[] };
  /** The items, in the order of the file. */
  readonly lines: Record<string, unknown>[];
  readonly stderr: string;
  /** Run another command in the project. */
  run(...args: string[]): ReturnType<typeof runHere>;
}

/** Crawl to the end into `items.jsonl`, with further arguments. */
export async function crawlLines(project: Project, spider: string, ...more: string[]): Promise<Crawled> {
  const run = (...args: string[]) => runHere(args, { cwd: project.dir });
  const { code, stdout, stderr } = await run(
    ...['crawl', spider, '-o', 'items.jsonl', '--exit-when-done', '--json'],
    ...['-s', 'START_TIMEOUT=0', ...more],
  );
  const lines = await project.readJsonLines('items.jsonl');
  const summary = stdout === '' ? {} : JSON.parse(stdout);
  return { code, summary, lines, stderr, run };
}

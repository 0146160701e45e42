/** A temporary crawlnode project: a folder with settings and spiders. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { FeedRecords } from '../../src/pipelines/feeds/feed-records.js';
import { tempDir } from './temp-dir.js';

/** What a project is made of. */
export interface ProjectOptions {
  /** Settings for `crawlnode.yaml`: an object, or the text as it stands. No file when absent. */
  readonly settings?: Readonly<Record<string, unknown>> | string;
  /** Path in the project → text; spiders go to `spiders/NAME.ts`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A project folder, to be run with `runCli(…, { cwd: project.dir })`. */
export interface Project {
  readonly dir: string;
  path(...parts: string[]): string;
  exists(file: string): boolean;
  write(file: string, text: string): Promise<void>;
  read(file: string): Promise<string>;
  /** The JSON values of a file of JSON lines; none when it does not exist. @throws on a broken line. */
  readJsonLines<T = Record<string, unknown>>(file: string): Promise<T[]>;
  remove(): Promise<void>;
}

/** Make a project in a temporary folder; removed with `remove()`, else after the test file. */
export async function createProject({ settings, files = {} }: ProjectOptions = {}): Promise<Project> {
  const { dir, remove } = tempDir('project');
  const project: Project = {
    dir,
    remove,
    path: (...parts) => path.join(dir, ...parts),
    exists: (file) => existsSync(path.join(dir, file)),
    write: async (file, text) => {
      await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
      await writeFile(path.join(dir, file), text);
    },
    read: (file) => readFile(path.join(dir, file), 'utf8'),
    readJsonLines: async <T>(file: string) => {
      if (!existsSync(path.join(dir, file))) return [];
      const text = await readFile(path.join(dir, file), 'utf8');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as T);
    },
  };
  await mkdir(path.join(dir, 'spiders'));
  if (settings !== undefined) {
    await project.write('crawlnode.yaml', typeof settings === 'string' ? settings : stringify(settings));
  }
  for (const [file, text] of Object.entries(files)) await project.write(file, text);
  return project;
}

/** The records of feed files of a spider's unnamed crawl, in the folder that `global-setup.ts` gives to the executable. */
export function recordsOf(spider: string): FeedRecords {
  return new FeedRecords(path.join(process.env.XDG_STATE_HOME!, 'crawlnode', 'feeds'), `${spider}:requests`);
}

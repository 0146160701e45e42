/** `doctor`'s look at whose files crawlnode runs and keeps: what other users can write to is as good as theirs. */
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { requestModuleOf } from '../../crawler/project/request-module.js';
import { messageOf } from '../../errors.js';
import { findingsAbout } from '../../frontier/findings.js';
import type { Finding } from '../../frontier/frontier.js';
import { isModulePath } from '../../settings/built-in-middleware.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import { spiderFiles } from '../../spider/loading/spider-files.js';

/** Files named in one finding; a folder that is open has them all. */
const NAMED = 3;

/**
 * Whether others can write to the project (its folder, settings, spiders and pipelines, which run as this user) or to its
 * store, or read the store, which holds requests with their headers and cookies.
 */
export async function openFiles(
  { projectDir, file, settings }: Pick<LoadedSettings, 'projectDir' | 'file' | 'settings'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const { found, ok, info, problem } = findingsAbout('store');
  let store: readonly string[];
  try {
    store = withContent(settings.JOBDIR);
  } catch (error) {
    const owner = `of the user with id ${statSync(settings.JOBDIR).uid}`;
    const message = `the store ${settings.JOBDIR}, ${owner}, cannot be read: ${messageOf(error)}`;
    problem('store_files', message, 'run crawlnode as that user, or set JOBDIR to another folder');
    return found;
  }
  const code = [projectDir, file, ...(await codeOf(settings, projectDir)), env.NODE_COMPILE_CACHE];
  const files = [...new Set(code)].filter((each) => each !== null && each !== undefined);
  const open = (check: string, which: readonly string[], what: string, how: string) => {
    if (which.length === 0) return;
    problem(check, `${what}: ${some(which)}`, `${how} on them, and see whose they are`);
  };
  open('project_files', writable(files), 'others can write to what runs as this user', 'chmod go-w');
  open('store_files', writable(store), 'others can write to the store', 'chmod -R go-rwx');
  const read = 'others can read the store, with headers and cookies';
  open('store_files', readable(store), read, 'chmod -R go-rwx');
  // In a container it is usual that a mounted project is another user's.
  const foreign = [...files, ...store].filter((each) => ![undefined, uid, 0].includes(statOf(each)?.uid));
  if (foreign.length > 0) {
    info('files_of_others', `another user owns, and so can change: ${some(foreign)}`, null);
  }
  if (found.length === 0) ok('project_files', 'nobody else can write to project and store');
  return found;
}

async function codeOf(settings: LoadedSettings['settings'], projectDir: string): Promise<string[]> {
  const modules = await Promise.all(
    settings.SPIDER_MODULES.map(async (folder) => {
      const files = (await spiderFiles(folder)) ?? [];
      return [folder, ...files, ...files.map((each) => path.dirname(each))];
    }),
  );
  const { ITEM_PIPELINES, DOWNLOADER_MIDDLEWARES, SPIDER_MIDDLEWARES, SETTINGS_SCHEMA } = settings;
  const named = [ITEM_PIPELINES, DOWNLOADER_MIDDLEWARES, SPIDER_MIDDLEWARES].flatMap((map) =>
    Object.keys(map),
  );
  if (typeof SETTINGS_SCHEMA === 'string') named.push(SETTINGS_SCHEMA);
  const requestModule = requestModuleOf(settings);
  if (requestModule !== null) named.push(requestModule.name);
  return [...modules.flat(), ...named.filter(isModulePath).map((name) => path.resolve(projectDir, name))];
}

function withContent(folder: string): string[] {
  return existsSync(folder) ? [folder, ...readdirSync(folder).map((name) => path.join(folder, name))] : [];
}

function writable(files: readonly string[]): string[] {
  return files.filter((file) => {
    const stat = statOf(file);
    if (stat === undefined) return false;
    // A group of the user's own name is this user's alone on most systems, and their files are writable to it.
    const byGroup = (stat.mode & 0o020) !== 0 && stat.gid !== process.getgid?.();
    return byGroup || (stat.mode & 0o002) !== 0;
  });
}

const statOf = (file: string) => statSync(file, { throwIfNoEntry: false });

/** A file is safe within a folder that nobody else may enter. */
function readable([folder, ...content]: readonly string[]): string[] {
  const isOpen = (file: string) => ((lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) !== 0;
  const isClosed = folder === undefined || (statSync(folder).mode & 0o001) === 0;
  return isClosed ? [] : content.filter(isOpen);
}

function some(files: readonly string[]): string {
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more` : '';
  return `${files.slice(0, NAMED).join(', ')}${more}`;
}

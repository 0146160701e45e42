/** `doctor`'s look at whose files crawlnode runs and keeps: what other users can write to is as good as theirs. */
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { requestModuleOf } from '../../crawler/project/request-module.js';
import { messageOf } from '../../errors.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import { spiderFiles } from '../../spider/loading/spider-files.js';
import { isModulePath } from '../../user-code/project-modules.js';
import type { SpiderFinding } from './doctor-findings.js';

/** Files named in one finding; a folder that is open has them all. */
const NAMED = 3;

/**
 * Whether others can write to the project (its folder, settings, spiders and pipelines, which run as this user) or to its
 * store, or read the store, which holds requests with their headers and cookies.
 */
export async function openFiles(
  { projectDir, file, settings }: Pick<LoadedSettings, 'projectDir' | 'file' | 'settings'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SpiderFinding[]> {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const code = [
    ...new Set([projectDir, file, ...(await codeOf(settings, projectDir)), env.NODE_COMPILE_CACHE]),
  ];
  const unreadable = unreadableStore(settings.JOBDIR);
  if (unreadable !== null) return [unreadable];
  const store = withContent(settings.JOBDIR);
  const findings = [
    found('project_files', writable(code), 'others can write to what runs as this user', 'chmod go-w'),
    found('store_files', writable(store), 'others can write to the store', 'chmod -R go-rwx'),
    found(
      'store_files',
      readable(store),
      'others can read the store, with headers and cookies',
      'chmod -R go-rwx',
    ),
    ...ofOthers([...code, ...store], uid),
  ].filter((finding) => finding !== null);
  if (findings.length > 0) return findings;
  const message = 'nobody else can write to project and store';
  return [{ level: 'ok', check: 'project_files', spider: null, message, action: null }];
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

/** The finding for a store that this user may not look into. */
function unreadableStore(folder: string): SpiderFinding | null {
  try {
    withContent(folder);
    return null;
  } catch (error) {
    const owner = statSync(folder).uid;
    const message = `the store ${folder}, of the user with id ${owner}, cannot be read: ${messageOf(error)}`;
    const action = 'run crawlnode as that user, or set JOBDIR to another folder';
    return { level: 'problem', check: 'store_files', spider: null, message, action };
  }
}

function writable(files: readonly (string | null | undefined)[]): string[] {
  return files.filter((file): file is string => {
    const stat = statOf(file);
    if (stat === undefined) return false;
    // A group of the user's own name is this user's alone on most systems, and their files are writable to it.
    const byGroup = (stat.mode & 0o020) !== 0 && stat.gid !== process.getgid?.();
    return byGroup || (stat.mode & 0o002) !== 0;
  });
}

/** In a container it is usual that a mounted project is another user's. */
function ofOthers(files: readonly (string | null | undefined)[], uid: number): SpiderFinding[] {
  const foreign = files.filter((file) => ![undefined, uid, 0].includes(statOf(file)?.uid)) as string[];
  if (foreign.length === 0) return [];
  const message = `another user owns, and so can change: ${some(foreign)}`;
  return [{ level: 'info', check: 'files_of_others', spider: null, message, action: null }];
}

const statOf = (file: string | null | undefined) =>
  file ? statSync(file, { throwIfNoEntry: false }) : undefined;

/** A file is safe within a folder that nobody else may enter. */
function readable([folder, ...content]: readonly string[]): string[] {
  const isOpen = (file: string) => ((lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) !== 0;
  const isClosed = folder === undefined || (statSync(folder).mode & 0o001) === 0;
  return isClosed ? [] : content.filter(isOpen);
}

function found(check: string, files: readonly string[], what: string, how: string): SpiderFinding | null {
  if (files.length === 0) return null;
  const message = `${what}: ${some(files)}`;
  return { level: 'problem', check, spider: null, message, action: `${how} on them, and see whose they are` };
}

function some(files: readonly string[]): string {
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more` : '';
  return `${files.slice(0, NAMED).join(', ')}${more}`;
}

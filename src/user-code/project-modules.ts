/** Find and load the modules of a project that a setting names with a number, such as ITEM_PIPELINES. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, SettingsError } from '../errors.js';
import { isModulePath } from '../settings/built-in-middleware.js';

export interface ProjectModuleOptions {
  /** The name of the setting, for messages. */
  readonly setting: string;
  /** The usual folder of such modules in a project, whose files an error message lists. */
  readonly folder: string;
  /** What the setting may name beside modules. */
  readonly builtIn: readonly string[];
  /** The base of relative paths. */
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
}

/** The names of such a setting, the lowest number first, equal numbers in the order of the map. Null switches one off. */
export function inOrder(setting: Readonly<Record<string, number | null>>): (readonly [string, number])[] {
  return Object.entries(setting)
    .filter((entry): entry is [string, number] => entry[1] !== null)
    .sort(([, a], [, b]) => a - b);
}

/**
 * A name with null switches something off, so it must be that of a built-in module or of a file. Dotted names are of Scrapy's modules,
 * which a project that migrates may still switch off.
 * @throws SettingsError that names what does not exist, and what does
 */
export async function checkSwitchedOff(
  setting: Readonly<Record<string, number | null>>,
  options: ProjectModuleOptions,
): Promise<void> {
  for (const [name, number] of Object.entries(setting)) {
    const file = path.resolve(options.projectDir, name);
    const isKnown = isModulePath(name)
      ? existsSync(file)
      : name.includes('.') || options.builtIn.includes(name);
    if (number === null && !isKnown) throw await unknownModule(name, file, options);
  }
}

/**
 * The default export of a module.
 * @throws SettingsError that names a module which does not exist, and those that do; errors of `loadModule`.
 */
export async function loadProjectModule(name: string, options: ProjectModuleOptions): Promise<unknown> {
  const file = path.resolve(options.projectDir, name);
  if (!isModulePath(name) || !existsSync(file)) throw await unknownModule(name, file, options);
  const { default: exported } = await options.loadModule(file);
  return exported;
}

/**
 * What a module exports: an instance of a class, or the export itself.
 * @param named the setting and the module, for messages
 * @throws SettingsError for a constructor that throws
 */
export function instantiate(exported: unknown, named: NamedModule): unknown {
  const isClass =
    typeof exported === 'function' && /^class\b/.test(Function.prototype.toString.call(exported));
  return isClass ? construct(exported as new () => unknown, named) : exported;
}

/** A module as a setting names it. */
export interface NamedModule {
  readonly setting: string;
  readonly name: string;
}

/** @throws SettingsError that names the module */
export function construct<T>(Class: new () => T, { setting, name }: NamedModule): T {
  try {
    return new Class();
  } catch (cause) {
    throw new SettingsError(
      `${setting} names ${name}, whose constructor threw an error: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}

async function unknownModule(
  name: string,
  file: string,
  { setting, folder: usualFolder, builtIn, projectDir }: ProjectModuleOptions,
): Promise<SettingsError> {
  const folder = isModulePath(name) ? path.dirname(file) : path.join(projectDir, usualFolder);
  const entries = await readdir(folder).catch(() => [] as string[]);
  const modules = entries
    .filter((entry) => isModulePath(entry) && !entry.endsWith('.d.ts'))
    .sort()
    .map((entry) => relativeName(path.join(folder, entry), projectDir));
  const available = [...builtIn, ...modules].join(', ');
  const [first] = builtIn;
  const neither = builtIn.length === 1 ? `neither ${first} nor` : 'neither built in nor';
  const reason = isModulePath(name)
    ? `there is no file ${file}`
    : `it is ${builtIn.length === 0 ? 'not' : neither} the path of a module`;
  const choice = available === '' ? 'There is no module in that folder' : `There are: ${available}`;
  return new SettingsError(`${setting} names ${name}: ${reason}. ${choice}.`);
}

function relativeName(file: string, projectDir: string): string {
  const relative = path.relative(projectDir, file);
  return relative.startsWith('..') ? file : `./${relative.split(path.sep).join('/')}`;
}

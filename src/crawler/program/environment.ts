/**
 * The working folder and the environment of a program. Settings in the environment count as they do for the command line.
 */
import type { ProjectSource } from '../project/load-spider.js';
import type { ProgramOptions } from './options.js';

/** The environment of the program, which names the folders of its user. */
export function programEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The sources of settings. @param more settings that options of a function set, such as CLOSESPIDER_PAGECOUNT by `maxPages` */
export function programSource(
  { config, cwd = process.cwd(), settings = {}, job }: ProgramOptions,
  more: object = {},
): ProjectSource {
  const given = { ...settings, ...(job !== undefined && { JOB: job }), ...more };
  const code = { settings: given, where: 'the settings of the program' };
  if (config === false) return { cwd, file: false, env: {}, cli: {}, code };
  return { cwd, configFile: config, env: programEnvironment(), cli: {}, code };
}

/**
 * The working folder and the environment of a program. Settings in the environment count as they do for the command line.
 */
import type { ProjectSource } from '../project/load-spider.js';

/** Where the settings of a crawl come from, beside those given in code. */
export interface ProgramConfig {
  /**
   * The settings file; by default that of the project around `cwd`, as on the command line. With `false` neither a file nor
   * the environment is read.
   */
  readonly config?: string | false;
  /** The folder to look for the project in, and the base of relative paths without one; default: the working folder. */
  readonly cwd?: string;
}

/** The environment of the program, which names the folders of its user. */
export function programEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The sources of settings without those given in code. */
export function programSource({ config, cwd = process.cwd() }: ProgramConfig): ProjectSource {
  if (config === false) return { cwd, file: false, env: {}, cli: {} };
  return { cwd, configFile: config, env: programEnvironment(), cli: {} };
}

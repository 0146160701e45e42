/** Load the module that gives requests their identity and order (REQUEST_MODULE). */
import { types } from 'node:util';
import { SettingsError } from '../../errors.js';
import { LoadedRequestModule, type RequestModule } from '../../http/message/request-module.js';
import type { Settings } from '../../settings/schema.js';
import { namePattern } from '../../settings/sections/project.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import { problemOfMethods } from '../../user-code/module-methods.js';
import { settingModule } from './setting-module.js';

/**
 * The settings with REQUEST_MODULE loaded, so that all that is derived from them uses it.
 * @param beforeModule called before the module is loaded
 * @throws SettingsError for a module that does not exist or load, and for one that gives requests nothing
 */
export async function withRequestModule(
  loaded: LoadedSettings,
  beforeModule?: () => Promise<unknown>,
): Promise<LoadedSettings> {
  const { REQUEST_MODULE: given, SCHEDULER_QUEUE_CLASS } = loaded.settings;
  if (given === null) return loaded;
  const name = typeof given === 'string' ? given : 'the REQUEST_MODULE of the program';
  const exported =
    typeof given === 'string'
      ? await settingModule('REQUEST_MODULE', given, loaded.projectDir, beforeModule)
      : given;
  const { instantiate } = await import('../../user-code/project-modules.js');
  const module = instantiate(exported, { setting: 'REQUEST_MODULE', name });
  const problem = problemOf(module);
  if (problem !== null) throw new SettingsError(`REQUEST_MODULE: the default export of ${name} ${problem}`);
  const requestModule = new LoadedRequestModule(name, module as RequestModule);
  if (requestModule.priority !== null && SCHEDULER_QUEUE_CLASS !== 'PriorityQueue') {
    throw new SettingsError(
      `REQUEST_MODULE: ${name} has priority(), which has no effect with SCHEDULER_QUEUE_CLASS: ${SCHEDULER_QUEUE_CLASS}; use PriorityQueue, or remove priority()`,
    );
  }
  const settings = Object.freeze({ ...loaded.settings, REQUEST_MODULE: requestModule });
  return { ...loaded, settings };
}

/** The module of loaded settings; null without one. */
export function requestModuleOf({
  REQUEST_MODULE,
}: Pick<Settings, 'REQUEST_MODULE'>): LoadedRequestModule | null {
  return REQUEST_MODULE instanceof LoadedRequestModule ? REQUEST_MODULE : null;
}

function problemOf(module: unknown): string | null {
  const problem = problemOfMethods(module, { kind: 'request module', names: ['fingerprint', 'priority'] });
  if (problem !== null) return problem;
  const isAsync = (name: string) => types.isAsyncFunction((module as Record<string, unknown>)[name]);
  const async = ['fingerprint', 'priority'].find(isAsync);
  if (async !== undefined) {
    return `has ${async}, which is async, but its value is needed at once: make it a method without await`;
  }
  const { id } = module as { id: unknown };
  if (typeof id === 'string' && namePattern.test(id)) return null;
  return `needs an id of 1 to 64 letters, digits, dots, dashes and underscores, such as 'products-1': nodes with other rules are told by it`;
}

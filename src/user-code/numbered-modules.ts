/** Load the modules that a setting lists with numbers, and check their methods: middleware and extensions. */
import { SettingsError } from '../errors.js';
import { type ExpectedMethods, problemOfMethods } from './module-methods.js';
import {
  checkSwitchedOff,
  inOrder,
  instantiate,
  loadProjectModule,
  type ProjectModuleOptions,
} from './project-modules.js';

/** A module of such a setting, loaded. */
export interface Loaded<M> {
  /** As the setting names it, for messages. */
  readonly name: string;
  readonly number: number;
  readonly methods: M;
}

/**
 * The modules of a setting in the order of their numbers.
 * @param given the value of the setting. @param isBuiltIn names that are no modules of the project
 * @throws SettingsError for a module that does not exist or has none of the methods; SpiderLoadError for one that does not
 *   load.
 */
export async function loadNumbered<M>(
  given: Readonly<Record<string, number | null>>,
  expected: ExpectedMethods,
  from: ProjectModuleOptions,
  isBuiltIn: (name: string) => boolean = () => false,
): Promise<Loaded<M>[]> {
  const { setting } = from;
  const loaded: Loaded<M>[] = [];
  await checkSwitchedOff(given, from);
  for (const [name, number] of inOrder(given)) {
    if (isBuiltIn(name)) continue;
    const methods = instantiate(await loadProjectModule(name, from), { setting, name });
    const problem = problemOfMethods(methods, expected);
    if (problem !== null)
      throw new SettingsError(`${setting} names ${name}, whose default export ${problem}.`);
    loaded.push({ name, number, methods: methods as M });
  }
  return loaded;
}

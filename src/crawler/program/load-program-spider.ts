/** The spider of a program, given by its class or by its name in the project, with the settings it runs with. */
import { SpiderLoadError } from '../../errors.js';
import { namePattern } from '../../settings/sections/project.js';
import { spiderProblem } from '../../spider/loading/spider-problems.js';
import { createSpider, type SpiderClass } from '../../spider/spider.js';
import { configureSpider, type LoadedSpider, loadProject, loadSpider } from '../project/load-spider.js';
import { programSource } from './environment.js';
import type { ProgramOptions, SpiderChoice } from './options.js';

/**
 * Load it. A class given as such runs as it is: no module is loaded, and no module hook is installed.
 * @param more settings that options of a function set, such as CLOSESPIDER_PAGECOUNT by `maxPages`
 * @throws SpiderLoadError for a spider that cannot run; SettingsError
 */
export async function loadProgramSpider(
  choice: SpiderChoice,
  options: ProgramOptions,
  more: object = {},
): Promise<LoadedSpider> {
  const { args = {} } = options;
  const source = programSource(options, more);
  if (typeof choice === 'string') return loadSpider(source, choice, args);
  const project = (await loadProject(source)).settings;
  const name = nameOf(choice, args);
  const found = { name, file: `the class ${choice.name}`, SpiderClass: choice };
  return configureSpider(source, found, args, project);
}

/** @throws SpiderLoadError for a spider without a valid name, or with members that would have no effect */
function nameOf(SpiderClass: SpiderClass, args: Readonly<Record<string, string>>): string {
  const spider = createSpider(SpiderClass, { args });
  const problem = spiderProblem(spider);
  if (problem !== null) throw new SpiderLoadError(`the class ${SpiderClass.name}: ${problem}`);
  if (namePattern.test(spider.name)) return spider.name;
  throw new SpiderLoadError(
    `the name ${JSON.stringify(spider.name)} of the spider ${SpiderClass.name} is not of 1 to 64 letters, digits, dots, underscores and hyphens`,
  );
}

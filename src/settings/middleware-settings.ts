/**
 * Interprets the entries of DOWNLOADER_MIDDLEWARES and SPIDER_MIDDLEWARES for built-in middleware: refuses them, or
 * converts them to settings. Finds misspelt built-ins that these, ITEM_PIPELINES and EXTENSIONS switch off.
 */
import {
  type BuiltIn,
  builtInMiddleware,
  builtInOf,
  builtInPipelines,
  isModulePath,
  type MiddlewareSetting,
} from './built-in-middleware.js';
import { nearest } from './nearest.js';

const settingNames: readonly MiddlewareSetting[] = ['DOWNLOADER_MIDDLEWARES', 'SPIDER_MIDDLEWARES'];

interface Given {
  readonly value: unknown;
  readonly where: string;
}

/** The settings that follow from built-ins which are switched off, with the setting that says so. */
export function switchedOff(
  values: ReadonlyMap<string, Given>,
): { readonly name: string; readonly value: unknown; readonly because: MiddlewareSetting }[] {
  return entriesOf(values).flatMap(({ setting, builtIn, number }) =>
    builtIn === undefined || number !== null
      ? []
      : settingsOf(builtIn).map(([name, value]) => ({ name, value, because: setting })),
  );
}

/** A sentence for each entry of a built-in that has no possible meaning. */
export function middlewareProblems(values: ReadonlyMap<string, Given>): string[] {
  return entriesOf(values).flatMap(({ setting, where, name, builtIn, number }) => {
    if (builtIn === undefined) return unknownScrapyName(name, number, `${where}: ${setting}`);
    const problem = problemOf(builtIn, number);
    return problem === null ? [] : [`${where}: ${setting}: ${name} ${problem}`];
  });
}

const settingsOf = ({ off }: BuiltIn) => (typeof off === 'string' ? [] : Object.entries(off));

function problemOf(builtIn: BuiltIn, number: number | null): string | null {
  const { number: own, off } = builtIn;
  if (number === null) return typeof off === 'string' ? `cannot be switched off: ${off}` : null;
  if (typeof off !== 'string' && settingsOf(builtIn).length === 0)
    return 'does not exist in crawlnode: delete it';
  if (number === own) return null;
  return `is built in at ${own} and cannot be moved to ${number}: delete it (null switches it off), and give your modules numbers below or above ${own}`;
}

/** The settings that name modules with a number, and the names that are built in. */
const moduleSettings: Readonly<Record<string, readonly string[]>> = {
  ITEM_PIPELINES: builtInPipelines,
  DOWNLOADER_MIDDLEWARES: builtInMiddleware.DOWNLOADER_MIDDLEWARES.map(({ name }) => name),
  SPIDER_MIDDLEWARES: builtInMiddleware.SPIDER_MIDDLEWARES.map(({ name }) => name),
  EXTENSIONS: [],
};

/** A sentence for each entry that switches off a misspelt built-in, which therefore stays on. */
export function misspeltNulls(values: ReadonlyMap<string, Given>): string[] {
  return nullsOf(values).flatMap(({ setting, where, name, builtIns }) => {
    const last = name.slice(name.lastIndexOf('.') + 1);
    if (isModulePath(name) || builtIns.includes(last)) return [];
    const [meant] = nearest(last, builtIns, 1, 2);
    if (meant === undefined) return [];
    return [`${where}: ${setting}: ${name} does not exist, so null has no effect; did you mean ${meant}?`];
  });
}

function nullsOf(values: ReadonlyMap<string, Given>) {
  return Object.entries(moduleSettings).flatMap(([setting, builtIns]) => {
    const { value, where = '' } = values.get(setting) ?? {};
    const given = (value ?? {}) as Readonly<Record<string, number | null>>;
    const off = Object.keys(given).filter((name) => given[name] === null);
    return off.map((name) => ({ setting, where, name, builtIns }));
  });
}

/** Middleware of Scrapy cannot be loaded. An entry that only switches it off may stay. */
function unknownScrapyName(name: string, number: number | null, place: string): string[] {
  if (number === null || !/^scrapy[\w.]*\.\w+$/.test(name) || isModulePath(name)) return [];
  return [`${place}: ${name} does not exist in crawlnode: delete it, or write a module in its place`];
}

function entriesOf(values: ReadonlyMap<string, Given>) {
  return settingNames.flatMap((setting) => {
    const given = values.get(setting);
    return Object.entries((given?.value ?? {}) as Record<string, number | null>).map(([name, number]) => ({
      ...{ setting, name, number, where: given?.where ?? '' },
      builtIn: builtInOf(setting, name),
    }));
  });
}

/**
 * Interprets the entries of DOWNLOADER_MIDDLEWARES and SPIDER_MIDDLEWARES for built-in middleware: refuses them, or
 * converts them to settings.
 */
import { type BuiltIn, builtInOf, type MiddlewareSetting } from './built-in-middleware.js';

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

/** Middleware of Scrapy cannot be loaded. An entry that only switches it off may stay. */
function unknownScrapyName(name: string, number: number | null, place: string): string[] {
  if (number === null || !/^scrapy[\w.]*\.\w+$/.test(name) || /\.[cm]?[jt]s$/.test(name)) return [];
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

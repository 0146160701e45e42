/**
 * Merge the settings of five layers into one frozen object: CLI > environment > spider > file > default. One error lists
 * every unknown name and every invalid value of all layers, each with its place, the reason and the nearest known name.
 */
import { SettingsError } from '../../errors.js';
import type { Definition } from '../kinds.js';
import { displayValue } from '../mask-secrets.js';
import { middlewareProblems, misspeltNulls, switchedOff } from '../middleware-settings.js';
import { didYouMean } from '../nearest.js';
import { checkOwn, missingOf, ownContradictions } from '../own/own-checks.js';
import { type OwnSettings, settingDefinition } from '../own/own-settings.js';
import type { Checked } from '../own/own-value.js';
import { definitionOf, definitions, type SettingName, type Settings, settingNames } from '../schema.js';
import { startUrlsTypes } from '../sections/frontier.js';
import { redisOptionNames } from '../sections/redis-connection.js';
import { hasReplacement, unknownSettingAdvice } from '../unknown-settings.js';
import { environmentTypos } from './environment-typos.js';
import {
  type CodeLayer,
  fromCode,
  fromEnvironment,
  fromSpider,
  fromTexts,
  type SpiderLayer,
} from './settings-layers.js';
import { type LayerEntry, noSettingsFile, readSettingsFile, type SettingsFile } from './yaml-file.js';

export type Source = 'default' | 'file' | 'spider' | 'environment' | 'cli';

export interface LoadOptions {
  readonly cwd: string;
  /** `-c/--config`; without it the project is searched in `cwd` and its parents (`find-project.ts`). */
  readonly configFile?: string | undefined;
  /** False: no settings file is looked for or read. */
  readonly file?: false | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** NAME → text, from `-s NAME=VALUE` and from options that set a setting. */
  readonly cli: Readonly<Record<string, string>>;
  /** The `customSettings` of a spider, and the name of this layer in error messages. */
  readonly spider?: SpiderLayer | undefined;
  /** Settings that a program gives to `crawl()`: they override all others. */
  readonly code?: CodeLayer | undefined;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly sources: Readonly<Record<string, Source>>;
  /** The settings that the project declares in SETTINGS_SCHEMA; their values are in `settings`. */
  readonly own: OwnSettings | null;
  /** Settings of its own that need a value and have none. A spider cannot be created without them. */
  readonly missing: readonly string[];
  /** The base of relative paths. */
  readonly projectDir: string;
  readonly file: string | null;
  /** Shown to the user: settings that have no effect, or none in this version. */
  readonly notices: readonly string[];
  /** Shown to the user by every command: ignored values, and a project that was found in a parent folder. */
  readonly warnings: readonly string[];
}

/** A value of a setting, with the layer that it comes from. */
interface Given {
  readonly value: unknown;
  /** As it was written, before its type transformed it. */
  readonly given: unknown;
  readonly source: Source;
  readonly where: string;
}

type Layer = { readonly source: Source; readonly entries: ReadonlyMap<string, LayerEntry> };

/** What is known before the layers are merged. */
export interface KnownBefore {
  /** The settings file, if it was read already. */
  readonly file?: SettingsFile;
  /** The settings that the project declares. */
  readonly own?: OwnSettings | null;
}

/** The settings file of the sources. @throws SettingsError for a file that cannot be read */
export function settingsFileOf({ cwd, file, configFile }: LoadOptions): SettingsFile {
  return file === false ? noSettingsFile(cwd) : readSettingsFile(cwd, configFile);
}

/** @throws SettingsError that lists the problems of all layers. */
export function loadSettings(options: LoadOptions, before: KnownBefore = {}): LoadedSettings {
  const { file, projectDir, entries, warnings: fileWarnings } = before.file ?? settingsFileOf(options);
  const { own = null } = before;
  const names = [...settingNames, ...(own?.definitions.keys() ?? [])];
  const problems: string[] = [];
  const warnings = [...fileWarnings];
  const spider = fromSpider(options.spider);
  // Lowest precedence first: a later layer overrides an earlier one.
  const layers: Layer[] = [
    { source: 'file', entries },
    { source: 'spider', entries: spider },
    { source: 'environment', entries: fromEnvironment(options.env, own, problems) },
    { source: 'cli', entries: fromTexts(Object.entries(options.cli), 'the command line', own, problems) },
    { source: 'cli', entries: fromCode(options.code) },
  ];
  const values = new Map<string, Given>();
  let isAnyUnknown = false;
  for (const { source, entries: layer } of layers) {
    for (const [name, { value, where }] of layer) {
      const definition = settingDefinition(name, own);
      if (definition === null) {
        problems.push(`${where}: unknown setting ${name}${unknownSettingAdvice(name, names)}`);
        isAnyUnknown ||= !hasReplacement(name);
        continue;
      }
      const ownDefinition = own?.definitions.get(name);
      const checked = ownDefinition
        ? checkOwn(name, ownDefinition, value, own!)
        : check(name, definition, value);
      if (checked.ok) values.set(name, { value: checked.value, given: value, source, where });
      else if (source === 'environment' && definition.isCommonName)
        warnings.push(`${where}: ${checked.problem}; it is ignored`);
      else problems.push(`${where}: ${checked.problem}`);
    }
  }
  const tooLate = spider.get('SETTINGS_SCHEMA');
  if (tooLate)
    problems.push(
      `${tooLate.where}: SETTINGS_SCHEMA is read before any spider: set it in the settings file instead`,
    );
  problems.push(...contradictions(values), ...middlewareProblems(values), ...misspeltNulls(values));
  const missing = own === null ? [] : missingOf(own, values);
  if (problems.length === 0 && missing.length === 0 && own !== null)
    problems.push(...ownContradictions(own, values));
  warnings.push(...environmentTypos(options.env, names));
  if (isAnyUnknown) problems.push(howToDeclare(own));
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  for (const { name, value, because } of switchedOff(values)) {
    if (definitionOf(name) !== null) values.set(name, { ...values.get(because)!, value });
  }
  return { ...assemble(values, projectDir, own), own, missing, projectDir, file, warnings };
}

function howToDeclare(own: OwnSettings | null): string {
  return own === null
    ? 'a setting of your own is declared in a module that SETTINGS_SCHEMA names (docs/guide/own-settings.md)'
    : `a setting of your own is declared in ${own.where}, which SETTINGS_SCHEMA names`;
}

function check(name: string, definition: Definition<unknown, unknown>, value: unknown): Checked {
  const result = definition.zod.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const [issue] = result.error.issues;
  const what = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  const inside = issue && issue.path.length > 0 ? ` (at ${issue.path.join('.')}: ${what})` : '';
  const got = value === null ? 'nothing' : displayValue(name, value);
  return { ok: false, problem: `${name}: expected ${definition.expects}, got ${got}${inside}` };
}

/** Problems of values that are valid alone but contradict each other. */
function contradictions(values: ReadonlyMap<string, Given>): string[] {
  const problems: string[] = [];
  const effective = (name: SettingName) => values.get(name)?.value ?? definitions[name].default;
  const [first, second] = startUrlsTypes.map(([name]) => name).filter((name) => effective(name) === true);
  if (first !== undefined && second !== undefined) {
    problems.push(`${values.get(second)?.where}: ${second}: it contradicts ${first}; remove one of them`);
  }
  const [timeoutS, heartbeatS] = [Number(effective('NODE_TIMEOUT')), Number(effective('HEARTBEAT_INTERVAL'))];
  if (heartbeatS * 2 > timeoutS) {
    const where = (values.get('NODE_TIMEOUT') ?? values.get('HEARTBEAT_INTERVAL'))?.where;
    problems.push(
      `${where}: NODE_TIMEOUT: ${timeoutS} s is less than two heartbeats (HEARTBEAT_INTERVAL: ${heartbeatS} s)`,
    );
  }
  return problems;
}

function assemble(
  values: ReadonlyMap<string, Given>,
  projectDir: string,
  own: OwnSettings | null,
): Pick<LoadedSettings, 'settings' | 'sources' | 'notices'> {
  const settings: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const notices: string[] = [];
  for (const name of settingNames) {
    const definition = definitionOf(name)!;
    const given = values.get(name);
    const value = given ? given.value : definition.zod.parse(definition.default);
    settings[name] = freeze(definition.resolve(value, projectDir));
    sources[name] = given?.source ?? 'default';
    if (given && definition.ignored !== null)
      notices.push(`${given.where}: ${name} has no effect: ${definition.ignored}`);
  }
  notices.push(...unusedDupefilterSettings(values), ...withoutSwitch(values));
  notices.push(...unknownRedisParams(values.get('REDIS_PARAMS')));
  for (const [name, definition] of own?.definitions ?? []) {
    const given = values.get(name);
    settings[name] = freeze(given ? given.value : definition.default);
    sources[name] = given?.source ?? 'default';
  }
  return { settings: Object.freeze(settings) as unknown as Settings, sources, notices };
}

/** The settings that only one class of dupefilter uses. */
const onlyWith = {
  DUPEFILTER_EXPIRE: 'TimedRFPDupeFilter',
  DUPEFILTER_CAPACITY: 'BloomDupeFilter',
  DUPEFILTER_ERROR_RATE: 'BloomDupeFilter',
} as const;

function unusedDupefilterSettings(values: ReadonlyMap<string, Given>): string[] {
  const chosen = values.get('DUPEFILTER_CLASS');
  const used = chosen?.value ?? definitions.DUPEFILTER_CLASS.default;
  const isEndless = used === 'TimedRFPDupeFilter' && !values.get('DUPEFILTER_EXPIRE')?.value;
  const endless = `${chosen?.where}: DUPEFILTER_CLASS TimedRFPDupeFilter forgets nothing without DUPEFILTER_EXPIRE`;
  const unused = Object.entries(onlyWith).flatMap(([name, needed]) => {
    const given = values.get(name);
    if (given === undefined || used === needed) return [];
    return [`${given.where}: ${name} has no effect with DUPEFILTER_CLASS ${used}: only ${needed} uses it`];
  });
  return isEndless ? [...unused, endless] : unused;
}

/** Settings of what is off by default. Where its switch is given too, the user has decided. */
function withoutSwitch(values: ReadonlyMap<string, Given>): string[] {
  return [...values].flatMap(([name, { where }]) => {
    const [, feature] = /^(HTTPCACHE|AUTOTHROTTLE)_/.exec(name) ?? [];
    if (feature === undefined || values.has(`${feature}_ENABLED`)) return [];
    return [`${where}: ${name} has no effect without ${feature}_ENABLED: true`];
  });
}

/** The client takes any option in silence. Names with underscores are of redis-py, and refused where they are unknown. */
function unknownRedisParams(given: Given | undefined): string[] {
  const names = Object.keys((given?.value ?? {}) as object);
  const unknown = names.filter((name) => !name.includes('_') && !redisOptionNames.includes(name));
  return unknown.map(
    (name) =>
      `${given?.where}: REDIS_PARAMS: ${name} is not an option of ioredis that is known here${didYouMean(name, redisOptionNames)}`,
  );
}

/** Lists and maps. What else a schema of one's own makes, such as a Buffer, stays as it is. */
function freeze(value: unknown): unknown {
  const isPlain =
    Array.isArray(value) ||
    (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);
  if (isPlain && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

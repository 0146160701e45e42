/**
 * Merge the settings of five layers into one frozen object: CLI > environment > spider > file > default. One error lists
 * every unknown name and every invalid value of all layers, each with its place, the reason and the nearest known name.
 */
import type { z } from 'zod';
import { SettingsError } from '../../errors.js';
import type { Definition } from '../kinds.js';
import { maskSetting } from '../mask-secrets.js';
import { middlewareProblems, switchedOff } from '../middleware-settings.js';
import { definitionOf, definitions, type SettingName, type Settings, settingNames } from '../schema.js';
import { unknownSettingAdvice } from '../scrapy-names.js';
import { type LayerEntry, noSettingsFile, readSettingsFile } from './yaml-file.js';

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
  readonly spider?: CodeLayer | undefined;
  /** Settings that a program gives to `crawl()`: they override all others. */
  readonly code?: CodeLayer | undefined;
}

/** Settings written in code, and the name of their layer in error messages. */
export interface CodeLayer {
  readonly settings: object;
  readonly where: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly sources: Readonly<Record<SettingName, Source>>;
  /** The base of relative paths. */
  readonly projectDir: string;
  readonly file: string | null;
  /** Shown to the user: settings that have no effect, or none in this version. */
  readonly notices: readonly string[];
  /** Shown to the user by every command: ignored values, and a project that was found in a parent folder. */
  readonly warnings: readonly string[];
}

type Layer = { readonly source: Source; readonly entries: ReadonlyMap<string, LayerEntry> };

/** @throws SettingsError that lists the problems of all layers. */
export function loadSettings(options: LoadOptions): LoadedSettings {
  const {
    file,
    projectDir,
    entries,
    warnings: fileWarnings,
  } = options.file === false
    ? noSettingsFile(options.cwd)
    : readSettingsFile(options.cwd, options.configFile);
  const problems: string[] = [];
  const warnings = [...fileWarnings];
  // Lowest precedence first: a later layer overrides an earlier one.
  const layers: Layer[] = [
    { source: 'file', entries },
    { source: 'spider', entries: fromCode(options.spider) },
    { source: 'environment', entries: fromEnvironment(options.env, problems) },
    { source: 'cli', entries: fromCli(options.cli, problems) },
    { source: 'cli', entries: fromCode(options.code) },
  ];
  const values = new Map<string, { value: unknown; source: Source; where: string }>();
  for (const { source, entries: layer } of layers) {
    for (const [name, { value, where }] of layer) {
      const definition = definitionOf(name);
      if (definition === null) {
        problems.push(`${where}: unknown setting ${name}${unknownSettingAdvice(name, settingNames)}`);
        continue;
      }
      const checked = check(name, definition, value);
      if (checked.ok) values.set(name, { value: checked.value, source, where });
      else if (source === 'environment' && definition.isCommonName)
        warnings.push(`${where}: ${checked.problem}; it is ignored`);
      else problems.push(`${where}: ${checked.problem}`);
    }
  }
  problems.push(...contradictions(values), ...middlewareProblems(values));
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  for (const { name, value, because } of switchedOff(values)) {
    if (definitionOf(name) !== null) values.set(name, { ...values.get(because)!, value });
  }
  return { ...assemble(values, projectDir), projectDir, file, warnings };
}

function fromCode(code: CodeLayer | undefined): Map<string, LayerEntry> {
  if (!code) return new Map();
  return new Map(
    Object.entries(code.settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, { value, where: code.where }]),
  );
}

/** Only names of settings are read. An empty variable counts as unset. */
function fromEnvironment(env: LoadOptions['env'], problems: string[]): Map<string, LayerEntry> {
  const texts = settingNames.flatMap((name) => {
    const names = [...definitions[name].environmentNames, name];
    const text = names.map((each) => env[each]).find((each) => each);
    return !text || isServiceLink(name, text) ? [] : [[name, text] as const];
  });
  return fromTexts(texts, () => 'the environment', problems);
}

/** Kubernetes sets REDIS_PORT to a `tcp://` URL in every pod of a namespace that has a service named `redis`. */
function isServiceLink(name: string, text: string): boolean {
  return name === 'REDIS_PORT' && text.startsWith('tcp://');
}

function fromCli(cli: LoadOptions['cli'], problems: string[]): Map<string, LayerEntry> {
  return fromTexts(Object.entries(cli), () => 'the command line', problems);
}

function fromTexts(
  texts: readonly (readonly [string, string])[],
  where: (name: string) => string,
  problems: string[],
): Map<string, LayerEntry> {
  const entries = new Map<string, LayerEntry>();
  for (const [name, text] of texts) {
    try {
      entries.set(name, { value: definitionOf(name)?.fromText(text) ?? text, where: where(name) });
    } catch (error) {
      problems.push(`${where(name)}: ${name}: ${displayValue(name, text)} ${(error as Error).message}`);
    }
  }
  return entries;
}

type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

function check(name: string, definition: Definition<unknown, unknown>, value: unknown): Checked {
  const result = definition.zod.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const reason = explain(definition, value, result.error.issues[0]);
  return { ok: false, problem: `${name}: ${reason}` };
  function explain(of: Definition<unknown, unknown>, given: unknown, issue: z.core.$ZodIssue | undefined) {
    const what = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
    const inside = issue && issue.path.length > 0 ? ` (at ${issue.path.join('.')}: ${what})` : '';
    const got = given === null ? 'nothing' : displayValue(name, given);
    return `expected ${of.expects}, got ${got}${inside}`;
  }
}

/** Problems of values that are valid alone but contradict each other. */
function contradictions(values: ReadonlyMap<string, { value: unknown; where: string }>): string[] {
  const problems: string[] = [];
  const effectiveValue = (name: SettingName) => values.get(name)?.value ?? definitions[name].default;
  if (
    effectiveValue('REDIS_START_URLS_AS_SET') === true &&
    effectiveValue('REDIS_START_URLS_AS_ZSET') === true
  ) {
    const where = values.get('REDIS_START_URLS_AS_ZSET')?.where;
    problems.push(
      `${where}: REDIS_START_URLS_AS_ZSET: the seeds cannot be a set (REDIS_START_URLS_AS_SET) as well`,
    );
  }
  if (Number(effectiveValue('HEARTBEAT_INTERVAL')) * 2 > Number(effectiveValue('NODE_TIMEOUT'))) {
    const where = (values.get('NODE_TIMEOUT') ?? values.get('HEARTBEAT_INTERVAL'))?.where;
    problems.push(
      `${where}: NODE_TIMEOUT: ${effectiveValue('NODE_TIMEOUT')} s is less than two heartbeats (HEARTBEAT_INTERVAL: ${effectiveValue('HEARTBEAT_INTERVAL')} s)`,
    );
  }
  return problems;
}

function assemble(
  values: ReadonlyMap<string, { value: unknown; source: Source; where: string }>,
  projectDir: string,
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
    if (given) notices.push(...noticesOf(name, definition, given.value, given.where));
  }
  return {
    settings: Object.freeze(settings) as unknown as Settings,
    sources: sources as Record<SettingName, Source>,
    notices,
  };
}

function noticesOf(name: string, definition: Definition, value: unknown, where: string): string[] {
  if (definition.ignored !== null) return [`${where}: ${name} has no effect: ${definition.ignored}`];
  if (definition.later === null || definition.later.unless.includes(value)) return [];
  return [`${where}: ${name} has no effect yet: its feature comes in a later version`];
}

function freeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}

function displayValue(name: string, value: unknown): string {
  const shown = JSON.stringify(maskSetting(name, value)) ?? String(value);
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

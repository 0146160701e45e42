/**
 * Settings from five layers into one frozen object: CLI > environment > spider > file > default. Every unknown
 * name and bad value of every layer is refused in one message: where, key, value, reason, nearest name.
 */
import type { z } from 'zod';
import { SettingsError } from '../errors.js';
import type { Definition } from './kinds.js';
import { maskSetting } from './mask.js';
import { readSettingsFile, type Written } from './read-file.js';
import { definitionOf, definitions, type SettingName, type Settings, settingNames } from './schema.js';
import { inPlaceOf } from './scrapy-names.js';

export type Source = 'default' | 'file' | 'spider' | 'environment' | 'cli';

export interface LoadOptions {
  readonly cwd: string;
  /** `-c/--config`; without it the project is looked for in `cwd` and its parents (`find-project.ts`). */
  readonly configFile?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** NAME → text of `-s NAME=VALUE` and of the options that stand for a setting. */
  readonly cli: Readonly<Record<string, string>>;
  /** A spider's `customSettings`, and how to name it in a refusal. */
  readonly spider?: { readonly settings: object; readonly where: string } | undefined;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly sources: Readonly<Record<SettingName, Source>>;
  /** Relative paths count from here. */
  readonly projectDir: string;
  readonly file: string | null;
  /** Sentences for the user: settings without effect, or whose feature comes later. */
  readonly notices: readonly string[];
  /** Sentences that every command says: what was passed over, and a project that was found in a parent folder. */
  readonly warnings: readonly string[];
}

type Layer = { readonly source: Source; readonly entries: ReadonlyMap<string, Written> };

/** @throws SettingsError that lists everything wrong in all layers. */
export function loadSettings(options: LoadOptions): LoadedSettings {
  const {
    file,
    projectDir,
    entries,
    warnings: fileWarnings,
  } = readSettingsFile(options.cwd, options.configFile);
  const problems: string[] = [];
  const warnings = [...fileWarnings];
  // Weakest first: a later layer takes the place of an earlier.
  const layers: Layer[] = [
    { source: 'file', entries },
    { source: 'spider', entries: fromSpider(options.spider) },
    { source: 'environment', entries: fromEnvironment(options.env, problems) },
    { source: 'cli', entries: fromCli(options.cli, problems) },
  ];
  const values = new Map<string, { value: unknown; source: Source; where: string }>();
  for (const { source, entries: layer } of layers) {
    for (const [name, { value, where }] of layer) {
      const definition = definitionOf(name);
      if (definition === null) {
        problems.push(`${where}: unknown setting ${name}${inPlaceOf(name, settingNames)}`);
        continue;
      }
      const checked = check(name, definition, value);
      if (checked.ok) values.set(name, { value: checked.value, source, where });
      else if (source === 'environment' && definition.isCommonName)
        warnings.push(`${where}: ${checked.problem}; it is passed over`);
      else problems.push(`${where}: ${checked.problem}`);
    }
  }
  problems.push(...contradictions(values));
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return { ...assemble(values, projectDir), projectDir, file, warnings };
}

function fromSpider(spider: LoadOptions['spider']): Map<string, Written> {
  if (!spider) return new Map();
  return new Map(
    Object.entries(spider.settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, { value, where: spider.where }]),
  );
}

/** Only names in the schema are read, and an empty variable counts as unset. */
function fromEnvironment(env: LoadOptions['env'], problems: string[]): Map<string, Written> {
  const given = settingNames.flatMap((name) => {
    const text = env[name];
    return !text || isServiceLink(name, text) ? [] : [[name, text] as const];
  });
  return fromTexts(given, () => 'the environment', problems);
}

/** What Kubernetes puts into the REDIS_PORT of every pod beside a service of the name `redis`; nobody has asked for it. */
function isServiceLink(name: string, text: string): boolean {
  return name === 'REDIS_PORT' && text.startsWith('tcp://');
}

function fromCli(cli: LoadOptions['cli'], problems: string[]): Map<string, Written> {
  return fromTexts(Object.entries(cli), () => 'the command line', problems);
}

function fromTexts(
  texts: readonly (readonly [string, string])[],
  where: (name: string) => string,
  problems: string[],
): Map<string, Written> {
  const entries = new Map<string, Written>();
  for (const [name, text] of texts) {
    try {
      entries.set(name, { value: definitionOf(name)?.fromText(text) ?? text, where: where(name) });
    } catch (error) {
      problems.push(`${where(name)}: ${name}: ${show(name, text)} ${(error as Error).message}`);
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
    const inside = issue && issue.path.length > 0 ? ` (at ${issue.path.join('.')}: ${issue.message})` : '';
    const got = given === null ? 'nothing' : show(name, given);
    return `expected ${of.expects}, got ${got}${inside}`;
  }
}

/** Pairs of settings that cannot both hold. */
function contradictions(values: ReadonlyMap<string, { value: unknown; where: string }>): string[] {
  const problems: string[] = [];
  const of = (name: SettingName) => values.get(name)?.value ?? definitions[name].default;
  if (of('REDIS_START_URLS_AS_SET') === true && of('REDIS_START_URLS_AS_ZSET') === true) {
    const where = values.get('REDIS_START_URLS_AS_ZSET')?.where;
    problems.push(
      `${where}: REDIS_START_URLS_AS_ZSET: the seeds cannot be a set (REDIS_START_URLS_AS_SET) as well`,
    );
  }
  if (Number(of('HEARTBEAT_INTERVAL')) * 2 > Number(of('NODE_TIMEOUT'))) {
    const where = (values.get('NODE_TIMEOUT') ?? values.get('HEARTBEAT_INTERVAL'))?.where;
    problems.push(
      `${where}: NODE_TIMEOUT: ${of('NODE_TIMEOUT')} s is less than two heartbeats (HEARTBEAT_INTERVAL: ${of('HEARTBEAT_INTERVAL')} s)`,
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

function show(name: string, value: unknown): string {
  const shown = JSON.stringify(maskSetting(name, value)) ?? String(value);
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

/** The layers that settings come from, as entries with their places: the spider's, the environment's, the command line's. */
import { displayValue } from '../mask-secrets.js';
import { type OwnSettings, settingDefinition } from '../own/own-settings.js';
import { definitions, settingNames } from '../schema.js';
import { removedSettings } from '../unknown-settings.js';
import type { LayerEntry } from './yaml-file.js';

/** Settings written in code, and the name of their layer in error messages. */
export interface CodeLayer {
  readonly settings: object;
  readonly where: string;
}

/** The settings of a spider. */
export interface SpiderLayer extends CodeLayer {
  /** Settings that members of the spider stand for, such as `download_delay`; as in Scrapy they override `customSettings`. */
  readonly members?: readonly { readonly name: string; readonly value: unknown; readonly where: string }[];
}

type Texts = Readonly<Record<string, string | undefined>>;
type Entries = Map<string, LayerEntry>;

/** Settings that are undefined count as absent. */
export function fromCode(code: CodeLayer | undefined): Entries {
  if (!code) return new Map();
  return new Map(
    Object.entries(code.settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, { value, where: code.where }]),
  );
}

/** `customSettings`, and members that stand for settings. */
export function fromSpider(spider: SpiderLayer | undefined): Entries {
  const members = (spider?.members ?? []).map(({ name, ...entry }) => [name, entry] as const);
  return new Map([...fromCode(spider), ...members]);
}

/** Only names of settings are read. An empty variable counts as unset. */
export function fromEnvironment(env: Texts, own: OwnSettings | null, problems: string[]): Entries {
  const texts = [...settingNames, ...removedSettings, ...(own?.definitions.keys() ?? [])].flatMap((name) => {
    const text = environmentText(env, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return fromTexts(texts, 'the environment', own, problems);
}

/** What the environment says of a setting of crawlnode or of a project. */
export function environmentText(env: Texts, name: string): string | undefined {
  const others = Object.hasOwn(definitions, name)
    ? definitions[name as keyof typeof definitions].environmentNames
    : [];
  const text = [...others, name].map((each) => env[each]).find((each) => each);
  return text === undefined || isServiceLink(name, text) ? undefined : text;
}

/** Kubernetes sets REDIS_PORT to a `tcp://` URL in every pod of a namespace that has a service named `redis`. */
function isServiceLink(name: string, text: string): boolean {
  return name === 'REDIS_PORT' && text.startsWith('tcp://');
}

/** Texts that set settings, such as those of `-s`. */
export function fromTexts(
  texts: readonly (readonly [string, string])[],
  where: string,
  own: OwnSettings | null,
  problems: string[],
): Entries {
  const entries: Entries = new Map();
  for (const [name, text] of texts) {
    try {
      const definition = settingDefinition(name, own);
      entries.set(name, { value: definition === null ? text : definition.fromText(text), where });
    } catch (error) {
      problems.push(`${where}: ${name}: ${displayValue(name, text, own)} ${(error as Error).message}`);
    }
  }
  return entries;
}

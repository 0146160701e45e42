/** Problems of the values that a project gives its own settings, in a sentence each. */
import { displayValue } from '../mask-secrets.js';
import type { OwnDefinition, OwnSettings } from './own-settings.js';
import type { Checked } from './own-value.js';

interface Given {
  /** As it was written. */
  readonly given: unknown;
  readonly where: string;
}

/** Check one value; the problem names the setting, the value and the schema. */
export function checkOwn(name: string, definition: OwnDefinition, value: unknown, own: OwnSettings): Checked {
  const checked = definition.check(value);
  if (checked.ok) return checked;
  const shown = value === null ? 'no value' : displayValue(name, value, own);
  return { ok: false, problem: `${name}: ${own.where} does not accept ${shown}: ${checked.problem}` };
}

/** Settings that have no value and need one. */
export function missingOf(own: OwnSettings, values: ReadonlyMap<string, Given>): string[] {
  return [...own.definitions]
    .filter(([name, { required }]) => required && !values.has(name))
    .map(
      ([name]) =>
        `${name} has no value, and ${own.where} gives it no default: set it in the settings file, in the environment or with -s`,
    );
}

/** Problems of values that are valid alone, but break a refinement of the whole schema. */
export function ownContradictions(own: OwnSettings, values: ReadonlyMap<string, Given>): string[] {
  const given = [...own.definitions.keys()].filter((name) => values.has(name));
  return own
    .problems(Object.fromEntries(given.map((name) => [name, values.get(name)!.given])))
    .map(({ name, text }) => {
      const where = name === null ? undefined : values.get(name)?.where;
      return `${where ?? own.where}: ${name === null ? '' : `${name}: `}${text}`;
    });
}

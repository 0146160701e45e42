/** Stats of the user's own code as `lua/base/custom-stats.lua` takes and stores them: a number as such, a text as JSON. */
import { boundedChanges, type StatChange, type StatValue, splitStats } from '../../stats/stat-change.js';
import type { Arguments } from './connection/lua-message.js';

export function statArguments(changes: readonly StatChange[]): Arguments[] {
  return boundedChanges(changes).map(({ name, op, value }) => ({
    ...{ name, op },
    value: typeof value === 'string' ? storedStat(value) : value,
  }));
}

/** The text by which a value is stored. */
export function storedStat(value: StatValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** The fields of the HASH `stats`. */
export function readStats(fields: Readonly<Record<string, string>>): ReturnType<typeof splitStats> {
  return splitStats(Object.entries(fields).map(([name, text]) => [name, statOf(text)] as const));
}

/** A stored value. Text that is no JSON was written by somebody else. */
export function statOf(text: string): StatValue {
  if (!text.startsWith('"')) return Number(text);
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

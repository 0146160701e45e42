/** The texts of telemetry by name: `../../telemetry/stored-telemetry.ts` lists them. */
import type { OpenCrawl } from '../base/open-crawl.js';

type Place = Pick<OpenCrawl, 'sql' | 'spaces'>;

/** A text; null where there is none. */
export function textOf({ sql, spaces }: Place, name: string): string | null {
  const { id } = spaces.telemetry;
  return (
    sql.get<{ text: string }>`SELECT text FROM telemetry WHERE space = ${id} AND name = ${name}`?.text ?? null
  );
}

/** A text that is a whole number; 0 where there is none. */
export function numberOf(place: Place, name: string): number {
  const number = Number(textOf(place, name));
  return Number.isSafeInteger(number) ? number : 0;
}

export function setText({ sql, spaces }: Place, name: string, text: string): void {
  sql.run`REPLACE INTO telemetry (space, name, text) VALUES (${spaces.telemetry.need()}, ${name}, ${text})`;
}

export function deleteText({ sql, spaces }: Place, name: string): void {
  sql.run`DELETE FROM telemetry WHERE space = ${spaces.telemetry.id} AND name = ${name}`;
}

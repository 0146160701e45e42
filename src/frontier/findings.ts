/** Collects the findings of `doctor`: those of `examine` of both engines, and what the command sees itself. */
import type { Finding } from './frontier.js';

/** A collector of findings about the store, or about one crawl. */
export interface Findings {
  readonly found: Finding[];
  ok(check: string, message: string): void;
  info(check: string, message: string, action: string | null): void;
  problem(check: string, message: string, action: string | null): void;
}

/** @param where the address of one of several servers, before each message. */
export function findingsAbout(about: Finding['about'], where = ''): Findings {
  const found: Finding[] = [];
  const add =
    (level: Finding['level']) =>
    (check: string, message: string, action: string | null = null) =>
      void found.push({ level, check, about, message: `${where}${message}`, action });
  return { found, ok: add('ok'), info: add('info'), problem: add('problem') };
}

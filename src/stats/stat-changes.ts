/** Collects changes of stats, those of a page or those outside of pages. Changes of one stat are merged where they can be. */
import { CrawlnodeError } from '../errors.js';
import {
  changedStat,
  MAX_STAT_CHANGES,
  MAX_STAT_NAME_CHARS,
  MAX_STAT_TEXT_CHARS,
  type StatChange,
} from './stat-change.js';

export class StatChanges {
  /** The page was settled. What its code counts after that belongs to no page. */
  isOver = false;
  #changes: StatChange[] = [];
  /** The place of the last change of each stat. */
  readonly #last = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  get isFull(): boolean {
    return this.#changes.length >= MAX_STAT_CHANGES;
  }

  /** @throws CrawlnodeError `invalid_stat` */
  add(change: StatChange): void {
    refuseInvalid(change);
    const at = this.#last.get(change.name);
    const before = at === undefined ? undefined : this.#changes[at];
    const merged = before === undefined ? null : merge(before, change);
    if (merged !== null) {
      this.#changes[at!] = merged;
      return;
    }
    if (this.isFull) throw invalid(`one page changes at most ${MAX_STAT_CHANGES} stats`);
    this.#last.set(change.name, this.#changes.length);
    this.#changes.push(change);
  }

  /** Remove and return the changes, in order. */
  take(): StatChange[] {
    const changes = this.#changes;
    this.#changes = [];
    this.#last.clear();
    return changes;
  }
}

/** Merge two changes of one stat; null when only the store can. */
function merge(before: StatChange, next: StatChange): StatChange | null {
  if (next.op === 'set') return next;
  if (before.op !== 'set' && before.op !== next.op) return null;
  return { ...before, value: changedStat(before.value, next) };
}

function refuseInvalid({ name, op, value }: StatChange): void {
  if (typeof name !== 'string' || name === '' || name.length > MAX_STAT_NAME_CHARS) {
    throw invalid(`the name of a stat is a text of 1 to ${MAX_STAT_NAME_CHARS} characters`);
  }
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (op !== 'set') throw invalid(`${name}: ${op}Value takes a finite number, not ${shown(value)}`);
  if (typeof value === 'string' && value.length <= MAX_STAT_TEXT_CHARS) return;
  throw invalid(
    `${name}: setValue takes a finite number or a text of at most ${MAX_STAT_TEXT_CHARS} characters, not ${shown(value)}`,
  );
}

function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return `a text of ${value.length}`;
  return value === null ? 'null' : `a value of type ${typeof value}`;
}

function invalid(message: string): CrawlnodeError {
  return new CrawlnodeError('invalid_stat', message);
}

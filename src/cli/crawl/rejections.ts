/** Promises of the project's code that were rejected while nobody awaited them: logged, and counted for the summary. */
import { messageOf } from '../../errors.js';
import { howMany } from '../../format-amounts.js';
import type { Logger } from '../../log.js';
import { whereThrown } from '../../user-code/where-thrown.js';

/** Sent by workers to their parent. */
export interface RejectionCount {
  readonly count: number;
  /** Place, where the stack tells it, and message of the first; null while there is none. */
  readonly first: string | null;
}

export class Rejections {
  #count = 0;
  #first: string | null = null;

  /** For example of a call without `await` in a callback. */
  note(error: unknown, log: Logger): void {
    const where = whereThrown(error);
    const fields = { error: messageOf(error), ...(where !== null && { where }) };
    log.error(fields, "unhandled promise rejection: is an await missing in the project's code?");
    if (error instanceof Error) log.debug({ stack: error.stack }, 'stack trace');
    this.add({ count: 1, first: `${where === null ? '' : `${where}: `}${messageOf(error)}` });
  }

  add({ count, first }: RejectionCount): void {
    this.#count += count;
    this.#first ??= first;
  }

  get all(): RejectionCount {
    return { count: this.#count, first: this.#first };
  }
}

/** Null without any. */
export function rejectionLine({ count, first }: RejectionCount): string | null {
  if (count === 0) return null;
  const [were, them, which] = count === 1 ? ['was', 'it', ''] : ['were', 'them', ' the first is'];
  return `${howMany(count, 'promise')} ${were} rejected and nobody awaited ${them}:${which} ${first}`;
}

/** The refusal of what must not be done to a crawl under its nodes, in the words of both engines. */
import { RefusedError } from '../errors.js';

/** What `--force` brings upon them. */
const forced = {
  clear: ', which makes them stop with an error',
  repair: ', which makes them join anew',
  restore: '',
} as const;

export function nodesAtWork(count: number, what: keyof typeof forced): RefusedError {
  return new RefusedError(
    `${count} node${count === 1 ? ' is' : 's are'} working on this crawl: stop them first (or use --force${forced[what]})`,
    { code: 'live_nodes' },
  );
}

/** Refuse to identify requests in another way than the crawl does: pages would be fetched twice, or not be found. */
import type { RefusedError } from '../../errors.js';
import type { Shape } from '../../frontier/frontier.js';
import { otherShape } from '../../frontier/shared-settings/shape-differences.js';
import type { Settings } from '../../settings/schema.js';
import { shapeOf } from './settings-to-options.js';

/**
 * The refusal (exit 3) of settings whose fingerprints or domains are not those of the crawl; null when they agree.
 * @param there of the crawl in the store; null until a first node has joined
 */
export function otherIdentity(there: Shape | null, settings: Settings): RefusedError | null {
  return there === null ? null : otherShape(identityOf(there), identityOf(shapeOf(settings)));
}

/** The part of a shape that the identity of a request follows from. */
function identityOf({ fingerprinter, domainKey }: Shape): Partial<Shape> {
  return { fingerprinter, domainKey };
}

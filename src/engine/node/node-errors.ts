/** Errors that concern the node, not the page or the seed it was working on: the loop meets them by itself. */
import { FrontierGoneError, FrontierUnavailableError, IncarnationDeadError } from '../../errors.js';

export function concernsNode(error: unknown): boolean {
  return (
    error instanceof FrontierUnavailableError ||
    error instanceof FrontierGoneError ||
    error instanceof IncarnationDeadError
  );
}

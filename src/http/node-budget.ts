/**
 * Bounds what the body of a page may become in memory (DOWNLOAD_MAX_NODES): 60 MB of tags, which gzip sends as 400 KB, would
 * be 20 million elements and 4.6 GB. Beyond the limit the page fails as `too_complex`.
 */

import { CrawlnodeError } from '../errors.js';
import { n } from '../format-amounts.js';

/** The default of DOWNLOAD_MAX_NODES, for a Response that no node has made. */
export const DEFAULT_MAX_NODES = 750_000;

/** A value of JSON, a field of CSV or a tag of a sitemap takes less than this part of the memory of a node of a tree. */
const VALUES_PER_NODE = 4;

/** Links take more than other values: each is kept as it is written and as a URL. */
const LINKS_PER_NODE = 2;

/** A text is put together of parts, one for each character reference, and a part takes less memory than a node. */
export const PARTS_PER_NODE = 8;

/** A body that would become too many nodes. */
export class TooComplexError extends CrawlnodeError {}

export class NodeBudget {
  readonly most: number;
  readonly #what: string;
  #left: number;

  /**
   * The nodes of a tree, shared by all that is made of one page.
   * @param maxNodes DOWNLOAD_MAX_NODES; 0 for no limit. @param what is counted, for the message
   */
  constructor(maxNodes = DEFAULT_MAX_NODES, what = 'elements, attributes, texts, comments and instructions') {
    this.most = maxNodes === 0 ? Number.POSITIVE_INFINITY : maxNodes;
    this.#what = what;
    this.#left = this.most;
  }

  /** For what is read without a tree: four values count as a node. */
  static ofValues(what: string, maxNodes = DEFAULT_MAX_NODES): NodeBudget {
    return new NodeBudget(maxNodes * VALUES_PER_NODE, what);
  }

  /** For what `links()` finds without a tree: two links count as a node. */
  static ofLinks(maxNodes: number): NodeBudget {
    return new NodeBudget(maxNodes * LINKS_PER_NODE, 'links');
  }

  /** @throws TooComplexError when it is more than the limit */
  spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw this.#exceeded();
  }

  /**
   * Count the character references of a page of HTML, where it is long enough to have too many.
   * @throws TooComplexError when they alone are more than the limit
   */
  spendReferences(html: string): void {
    if (html.length <= this.#left * PARTS_PER_NODE) return;
    for (let at = html.indexOf('&'); at !== -1; at = html.indexOf('&', at + 1))
      this.spend(1 / PARTS_PER_NODE);
  }

  #exceeded(): TooComplexError {
    return new TooComplexError(
      'too_complex',
      `the body has more than ${n(this.most)} ${this.#what} (DOWNLOAD_MAX_NODES), so it is not parsed`,
    );
  }
}

const budgets = new WeakMap<object, NodeBudget>();

/** Count what is made of a tree later, such as the nodes of `xpath()`, with the nodes of the tree. */
export function shareBudget(document: object, budget: NodeBudget): void {
  budgets.set(document, budget);
}

/** The budget of a tree; a new one for others, such as the tree of one element of a feed. */
export function budgetOf(document: object): NodeBudget {
  return budgets.get(document) ?? new NodeBudget();
}

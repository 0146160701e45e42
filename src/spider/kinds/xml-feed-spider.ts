/** A spider of XML feeds, such as RSS, Atom and product feeds. Source: `scrapy.spiders.XMLFeedSpider`. */

import type { Selector } from '../../http/markup/selector.js';
import { treeElements, xmlElements } from '../../http/markup/xml-elements.js';
import type { CallbackResults } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { FeedSpider } from './feed-spider.js';

/** How an XML feed is read. */
export type XMLIterator = 'iternodes' | 'xml' | 'html';

/**
 * Calls `parseNode` with each element of one name.
 * ```ts
 * export default class News extends XMLFeedSpider {
 *   name = 'news';
 *   startUrls = ['https://news.example/rss.xml'];
 *   itertag = 'item';
 *
 *   parseNode(_response: Response, node: Selector) {
 *     return { title: node.css('title::text').get(), link: node.css('link::text').get() };
 *   }
 * }
 * ```
 */
export class XMLFeedSpider extends FeedSpider {
  /** The name of the elements. Without a prefix it matches in any namespace; with one, as the document writes it. */
  itertag = 'item';
  /**
   * `iternodes` reads the outermost elements one after the other, in constant memory. `xml` and `html` build the tree of the
   * whole document, so `node.xpath()` sees all of it; `html` also reads a document that is not well-formed.
   */
  iterator: XMLIterator = 'iternodes';

  /** Called with each element. It gives items and requests, as any callback does. */
  parseNode(_response: Response, _node: Selector): CallbackResults {
    throw new Error(`the spider "${this.name}" has no method parseNode`);
  }

  protected override get missingRecord(): string {
    return `there is no element <${this.itertag}> (itertag)`;
  }

  protected override *readRecords(response: Response): Generator<() => unknown> {
    const { itertag, iterator } = this;
    const { text, maxNodes } = response;
    const nodes =
      iterator === 'iternodes'
        ? xmlElements(text, itertag, maxNodes)
        : treeElements(text, itertag, iterator === 'xml', maxNodes);
    for (const node of nodes) yield () => this.parseNode(response, node);
  }
}

/** Which links of a page are wanted: absolute, http(s), without fragment, each once, in document order. */
import { UsageError } from '../../errors.js';
import { didYouMean } from '../../settings/nearest.js';
import { detached } from '../text-memory.js';
import type { UrlJoiner } from '../url/join-url.js';
import { matcher, type Patterns } from '../url/url-patterns.js';
import { linkTags } from './html/plain-outline.js';
import type { AnyNode } from './markup-tree.js';

/** Which links `response.links()` gives. */
export interface LinkOptions {
  /** Keep only URLs that one of these matches, anywhere in the absolute URL. */
  readonly allow?: Patterns;
  /** Drop URLs that one of these matches; stronger than `allow`. */
  readonly deny?: Patterns;
  /** Look only inside the elements this CSS selector matches. */
  readonly selector?: string;
}

/**
 * @param hrefs values of href attributes, in document order
 * @param joiner of the page's base URL
 */
export function linksOf(hrefs: Iterable<string>, joiner: UrlJoiner): Set<string> {
  const links = new Set<string>();
  for (const href of hrefs) {
    const url = joiner.joinWithoutFragment(href);
    if (url === null) continue;
    // A URL that was joined becomes a text of its own as soon as it is hashed; only a part of the href holds on to the page.
    links.add(url.length <= href.length && href.startsWith(url) ? detached(url) : url);
  }
  return links;
}

const optionNames: Readonly<Record<keyof LinkOptions, true>> = { allow: true, deny: true, selector: true };

/** @throws UsageError for an option that `links()` does not have: it would give links that nobody asked for. */
export function checkLinkOptions(options: LinkOptions): void {
  const names = Object.keys(optionNames);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    const hint = didYouMean(name, names) || `; there are ${names.join(', ')}; a LinkExtractor has more`;
    throw new UsageError(`links() has no option ${JSON.stringify(name)}${hint}`);
  }
}

/** Those of the links that are wanted. */
export function chosenLinks(links: Iterable<string>, options: LinkOptions): string[] {
  const allow = options.allow === undefined ? null : matcher(options.allow, 'links({ allow })');
  const deny = options.deny === undefined ? null : matcher(options.deny, 'links({ deny })');
  if (allow === null && deny === null) return [...links];
  return [...links].filter((url) => (allow === null || allow(url)) && !deny?.(url));
}

/** `href` of every `a` and `area` in these trees that has one, in document order. */
export function hrefsOf(roots: readonly AnyNode[]): string[] {
  const hrefs: string[] = [];
  // A stack of its own: a page may be nested deeper than the call stack.
  const stack = [...roots].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('attribs' in node && linkTags.includes(node.name) && Object.hasOwn(node.attribs, 'href')) {
      hrefs.push(node.attribs.href!);
    }
    if (!('children' in node)) continue;
    for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i]!);
  }
  return hrefs;
}

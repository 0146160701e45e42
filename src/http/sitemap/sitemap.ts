/**
 * Reads sitemaps (sitemaps.org, protocol 0.9): XML that lists pages or further sitemaps, and plain lists of URLs. The
 * input is untrusted: DTDs are not followed, only XML's five predefined entities are replaced, and nesting is bounded.
 */
import { CrawlnodeError } from '../../errors.js';
import { XmlParser } from '../markup/counting-dom-handler.js';
import { NodeBudget } from '../node-budget.js';

/** One entry of a sitemap. Texts are trimmed, with entities replaced, and otherwise as they are written. */
export interface SitemapEntry {
  /** `sitemap`: the entry of a sitemap index or a robots.txt, which lists further entries. */
  readonly kind: 'page' | 'sitemap';
  /** The protocol requires an absolute URL. */
  readonly loc: string;
  /** The W3C date or date-time, such as `2026-11-23` or `2026-11-23T04:00:00Z`; null without one. */
  readonly lastmod: string | null;
  /** Such as `daily`; null without one. */
  readonly changefreq: string | null;
  /** A text such as `0.5`; null without one. */
  readonly priority: string | null;
  /** The `href` of each `<xhtml:link rel="alternate">`: the page in other languages. */
  readonly alternates: readonly string[];
  /** Why `loc` cannot be used; null when it can. */
  readonly problem: string | null;
}

/** The text is not a sitemap, or is incomplete. Entries before the error may already have been yielded. */
export class SitemapError extends CrawlnodeError {
  constructor(message: string) {
    super('bad_sitemap', message);
  }
}

/** The protocol allows 2,048 characters. */
const MAX_LOC_CHARS = 8_192;
/** A sitemap has three levels of elements, with extensions five. The cost of parsing grows with the depth. */
const MAX_DEPTH = 32;
/** A page in all languages of the world has 200. */
const MAX_ALTERNATES = 1_000;
/** Characters parsed before their entries are yielded. */
const SLICE = 64 * 1024;

/**
 * Yields the entries in order. Only a `loc` directly below `url` or `sitemap` counts, not those of images and other
 * extensions. The namespace prefix is that of the root element. A text that does not begin with `<` is read as a list
 * with one URL per line.
 * @param maxNodes DOWNLOAD_MAX_NODES: there may be four times as many tags, attributes and texts
 * @throws SitemapError or TooComplexError, possibly after some entries
 */
export function* readSitemap(text: string, maxNodes?: number): Generator<SitemapEntry> {
  yield* isXmlText(text) ? readXml(text, maxNodes) : readList(text);
}

/** Whether a sitemap is XML. Otherwise it is a list of URLs, one a line. */
export function isXmlText(text: string): boolean {
  return /^[\s\uFEFF]*</.test(text);
}

function* readList(text: string): Generator<SitemapEntry> {
  let isFirst = true;
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    const loc = line.replace(/^\uFEFF/, '').trim();
    if (loc === '') continue;
    // Almost any text could be read as a list, so the first line must be a URL.
    if (isFirst && !/^https?:\/\//i.test(loc))
      throw new SitemapError('it is neither XML nor a list of URLs, one a line');
    isFirst = false;
    yield entryOf('page', { ...noFields(), loc });
  }
  if (isFirst) throw new SitemapError('it is empty');
}

function* readXml(text: string, maxNodes: number | undefined): Generator<SitemapEntry> {
  const reader = new XmlReader(
    NodeBudget.ofValues('tags, attributes and texts', maxNodes),
    new NodeBudget(maxNodes),
  );
  for (let at = 0; at < text.length; at += SLICE) {
    reader.write(text.slice(at, at + SLICE));
    yield* reader.take();
  }
  reader.end();
  yield* reader.take();
}

class XmlReader {
  readonly #parser: XmlParser;
  #entries: SitemapEntry[] = [];
  #depth = 0;
  #prefix = '';
  #kind: SitemapEntry['kind'] | null = null;
  #isClosed = false;
  /** The end of the text was reached: elements closed from here on were cut off. */
  #isEnding = false;
  /** The entry that is being read; null between entries. */
  #fields: Fields | null = null;
  #field: TextField | null = null;
  /** The attributes of the link that is being read; null outside of one. */
  #link: { rel?: string; href?: string } | null = null;
  #text = '';
  #error: SitemapError | null = null;

  constructor(budget: NodeBudget, references: NodeBudget) {
    this.#parser = new XmlParser(
      {
        onopentagname: (name) => {
          budget.spend(1);
          this.#open(name);
        },
        onattribute: (name, value) => {
          budget.spend(1);
          if (this.#link !== null && (name === 'rel' || name === 'href')) this.#link[name] = value.trim();
        },
        onclosetag: () => this.#close(),
        ontext: (text) => {
          budget.spend(1);
          if (this.#field !== null && this.#text.length <= MAX_LOC_CHARS) this.#text += text;
        },
        onprocessinginstruction: (name, data) => this.#instruction(name, data),
      },
      () => references,
    );
  }

  write(text: string): void {
    this.#parser.write(text);
    this.#check();
  }

  end(): void {
    this.#isEnding = true;
    this.#parser.end();
    if (this.#kind === null) throw new SitemapError('it has no element');
    if (!this.#isClosed) throw new SitemapError('it ends in the middle');
  }

  take(): SitemapEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  #check(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Keeps the first error. The parser is paused, since it does not stop for an error by itself. */
  #fail(message: string): void {
    this.#error ??= new SitemapError(message);
    this.#parser.pause();
  }

  #instruction(name: string, data: string): void {
    if (!/^!doctype$/i.test(name)) return;
    if (/^!doctype\s+html/i.test(data)) this.#fail('it is an HTML page, not a sitemap');
    else if (data.includes('[')) this.#fail('it declares entities of its own (a DTD), as no sitemap does');
  }

  #open(name: string): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      this.#fail(`it nests elements more than ${MAX_DEPTH} deep`);
      return;
    }
    if (this.#depth === 1) this.#root(name);
    else if (this.#depth === 2 && this.#localName(name) === (this.#kind === 'page' ? 'url' : 'sitemap')) {
      this.#fields = noFields();
    } else if (this.#depth === 3 && this.#fields !== null) {
      const field = this.#localName(name);
      this.#field = textFields.find((one) => one === field) ?? null;
      this.#text = '';
      // In any namespace, as in Scrapy.
      this.#link = /^(?:.*:)?link$/s.test(name) ? {} : null;
    }
  }

  #addAlternate(): void {
    const { rel = 'alternate', href } = this.#link ?? {};
    this.#link = null;
    const alternates = this.#fields?.alternates;
    if (alternates === undefined || href === undefined || href.length > MAX_LOC_CHARS) return;
    const isAlternate = /(?:^|\s)alternate(?:\s|$)/i.test(rel);
    if (isAlternate && alternates.length < MAX_ALTERNATES) alternates.push(href);
  }

  #root(name: string): void {
    const [, prefix = '', local = ''] = /^(.*:)?([^:]*)$/s.exec(name) ?? [];
    this.#prefix = prefix;
    if (local === 'urlset') this.#kind = 'page';
    else if (local === 'sitemapindex') this.#kind = 'sitemap';
    else if (/^html$/i.test(local)) this.#fail('it is an HTML page, not a sitemap');
    else {
      const shown = JSON.stringify(name.slice(0, 40));
      this.#fail(`its first element is ${shown}; a sitemap has urlset or sitemapindex`);
    }
  }

  /** The name without the prefix of the root element; null for names of other namespaces. */
  #localName(name: string): string | null {
    return name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : null;
  }

  #close(): void {
    if (this.#isEnding) return;
    if (this.#depth === 3) this.#addAlternate();
    if (this.#depth === 3 && this.#field !== null && this.#fields !== null) {
      this.#fields[this.#field] ??= this.#text.trim();
      this.#field = null;
    } else if (this.#depth === 2 && this.#fields !== null) {
      this.#entries.push(entryOf(this.#kind ?? 'page', this.#fields));
      this.#fields = null;
    } else if (this.#depth === 1) this.#isClosed = true;
    this.#depth -= 1;
  }
}

/** Elements of an entry whose text is read. */
const textFields = ['loc', 'lastmod', 'changefreq', 'priority'] as const;
type TextField = (typeof textFields)[number];
type Fields = Record<TextField, string | null> & { readonly alternates: string[] };

function noFields(): Fields {
  return { loc: null, lastmod: null, changefreq: null, priority: null, alternates: [] };
}

function entryOf(kind: SitemapEntry['kind'], fields: Fields): SitemapEntry {
  return { kind, ...fields, loc: fields.loc ?? '', problem: problemOf(fields.loc) };
}

function problemOf(loc: string | null): string | null {
  if (loc === null || loc === '') return 'an entry without <loc>';
  if (loc.length > MAX_LOC_CHARS) return `a <loc> of more than ${MAX_LOC_CHARS} characters`;
  if (loc.includes('\uFFFD')) return 'a <loc> that is not in the encoding the file claims';
  return null;
}

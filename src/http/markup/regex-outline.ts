/**
 * Links and titles of markup that is written as most is, found by expressions that V8 compiles to machine code. They read
 * every tag, quote and comment as htmlparser2's tokenizer does and give up, before the first difference, on what they do
 * not know: an `=` without a name, a tag without an end. Over the 526 pages of python3-doc, of which none is left to it, the
 * tokenizer takes 0.58 ms a page, half of all CPU of a node, and this 0.19. `test/http/markup/regex-outline.test.ts` holds both to the
 * same answers.
 */
import { linkTags } from './link-tags.js';
import type { WrittenOutline } from './tokenizer-outline.js';

/** What is found so far. */
interface PlainOutline {
  readonly hrefs: string[];
  readonly titles: string[];
}

/** No repetition is without bound: what it could go back to takes memory for each step. */
const MOST_ATTRIBUTES = 100;
const MOST_TAGS = 100;

// Nothing here can be read in two ways, so that nothing is tried twice: a name or value is followed by what ends it.
const white = String.raw` \t\n\f\r`;
const space = `[${white}]`;
const after = `(?=[${white}/>])`;
const gap = `[${white}/]+(?![${white}/])`;
const name = `[^${white}/>=]+`;
const equals = `${space}*=${space}*`;
const valueIn = (open: string) =>
  `(?:"${open}[^"]*)"|'${open}[^']*)'|${open}[^${white}"'>][^${white}>]*)(?=[${white}>]))`;
const value = valueIn('(?:');
const attribute = `${name}(?:${equals}${value}|${after}(?!${space}*=))`;
const attributes = `(?:${gap}|${attribute}){0,${MOST_ATTRIBUTES}}`;
const noHref = `(?:${gap}|(?!href[${white}/>=])${attribute}){0,${MOST_ATTRIBUTES}}`;

/** Whose text is not markup. */
const rawTags = ['script', 'style', 'textarea', 'xmp'];
const oneOf = (tags: readonly string[]) => tags.join('|');
const otherTag = `<(?!(?:${oneOf([...linkTags, 'title', ...rawTags])})${after})[a-z][^${white}/>]*${after}${attributes}>`;
const closingTag = '</[a-z][^>]*>';
const comment = '<!(?=--)[^]*?-->';
const declaration = '<![^-[][^>]*>';
const instruction = String.raw`<\?[^>]*>`;
const noTag = '<(?![a-z/!?])';
const others = [otherTag, closingTag, comment, declaration, instruction, noTag].join('|');

/** Whatever is neither link nor title, nor has text of its own rules. */
const OTHERS = new RegExp(`(?:[^<]*(?:${others})){0,${MOST_TAGS}}`, 'iy');
const LINK = new RegExp(
  `<(?:${oneOf(linkTags)})${after}${noHref}(?:href${equals}${valueIn('(')}${attributes})?>`,
  'iy',
);
const TITLE = new RegExp(`<title(?:${space}[^/>"']*)?>([^<\\x1c]*)(?=</title[${white}>])`, 'iy');
const RAW = new RegExp(`<(${oneOf(rawTags)})${after}${attributes}>`, 'iy');
const RAW_ENDS: Readonly<Record<string, RegExp>> = Object.fromEntries(
  // By the tokenizer's way of ignoring case, these control characters are `<` and `/` too.
  rawTags.map((raw) => [raw, new RegExp(`[<\\x1c][/\\x0f]${raw}[${white}>]`, 'gi')]),
);

/** @returns null when only the tokenizer can tell. */
export function plainOutline(html: string): WrittenOutline | null {
  const outline: PlainOutline = { hrefs: [], titles: [] };
  let at = 0;
  for (;;) {
    OTHERS.lastIndex = at;
    OTHERS.test(html);
    const tag = html.indexOf('<', OTHERS.lastIndex);
    if (tag === -1) return outline;
    const end = takeTag(html, tag, outline);
    // As many as one expression takes, and the next is of the same kind.
    if (end === -1 && OTHERS.lastIndex === at) return null;
    at = end === -1 ? OTHERS.lastIndex : end;
  }
}

/** @returns where the tag ends, or the text whose rules it sets; -1 when it is none of those, or not a plain one. */
function takeTag(html: string, tag: number, { hrefs, titles }: PlainOutline): number {
  switch (html.charCodeAt(tag + 1) | 0x20) {
    case 0x61: {
      const match = at(LINK, tag, html);
      if (match === null) return -1;
      const href = match[1] ?? match[2] ?? match[3];
      if (href !== undefined) hrefs.push(href);
      return LINK.lastIndex;
    }
    case 0x74: {
      const title = at(TITLE, tag, html);
      if (title === null) return afterRaw(html, tag);
      if (title[1] !== '') titles.push(title[1]!);
      return TITLE.lastIndex;
    }
    case 0x73:
    case 0x78:
      return afterRaw(html, tag);
    default:
      return -1;
  }
}

function afterRaw(html: string, tag: number): number {
  const name = at(RAW, tag, html)?.[1];
  // One that ends with a slash may have no text.
  if (name === undefined || /\/[ \t\n\f\r]*$/.test(html.slice(tag, RAW.lastIndex - 1))) return -1;
  const end = RAW_ENDS[name.toLowerCase()]!;
  end.lastIndex = RAW.lastIndex;
  const match = end.exec(html);
  return match === null || !match[0].startsWith('</') ? -1 : match.index;
}

function at(expression: RegExp, index: number, html: string): RegExpExecArray | null {
  expression.lastIndex = index;
  return expression.exec(html);
}

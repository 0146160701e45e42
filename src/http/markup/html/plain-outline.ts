/**
 * Links and titles of markup that is written as most is, found by expressions that V8 compiles to machine code. They
 * read every tag, quote and comment as `HtmlReader` does, and give up on what they do not know: SVG other than plain
 * shapes, MathML, `<base>`, a name that begins with `=`, a tag without an end. A node's CPU is halved by it:
 * docs/internals/html.md has the figures. test/http/markup/html/plain-outline.test.ts holds both to the same answers.
 */
import { textElements } from './element-rules.js';
import { scriptEnd, textEnd } from './text-end.js';

/** Elements whose `href` is a link to follow. They are found here by the letter they begin with, an `a`. */
export const linkTags: readonly string[] = ['a', 'area'];

/** What a page has as it is written: character references are not decoded. */
export interface PlainOutline {
  /** `href` of every `a` and `area` that has one, in document order. */
  readonly hrefs: string[];
  /** The text of every `title` that has any. */
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
const oneOf = (tags: readonly string[]) => tags.join('|');

/** SVG elements that have no rules of their own. */
const shapes = oneOf(
  'g path circle ellipse line rect polygon polyline use symbol defs stop lineargradient radialgradient clippath mask text tspan'.split(
    ' ',
  ),
);
const notPlain = [...linkTags, ...textElements, 'base', 'svg', 'math', 'plaintext'];
const otherTag = `<(?!(?:${oneOf(notPlain)})${after})[a-z][^${white}/>]*${after}${attributes}>`;
const shape = `<(?:${shapes})${after}${attributes}>`;
const closingShape = `</(?:${shapes})>`;
/** With an equals sign it might hold a quoted `>`. */
const closingTag = '</[a-z][^>=]*>';
const comment = '<!--(?:-?>|(?!-?>)[^]*?--!?>)';
const declaration = '<!(?!--)[^>]*>';
const instruction = String.raw`<\?[^>]*>`;
const noTag = '<(?![a-z/!?])';
const others = [otherTag, closingTag, comment, declaration, instruction, noTag].join('|');

/** Whatever is neither link nor title, nor has text of its own rules. */
const OTHERS = new RegExp(`(?:[^<]*(?:${others})){0,${MOST_TAGS}}`, 'iy');
const LINK = new RegExp(
  `<(?:${oneOf(linkTags)})${after}${noHref}(?:href${equals}${valueIn('(')}${attributes})?>`,
  'iy',
);
const TEXT_ELEMENT = new RegExp(`<(${oneOf(textElements)})${after}${attributes}>`, 'iy');
const SVG = new RegExp(`<svg${after}${attributes}>`, 'iy');
const SHAPES = new RegExp(`(?:[^<]*(?:${shape}|${closingShape}|${comment})){0,${MOST_TAGS}}[^<]*`, 'iy');
const SVG_END = /<\/svg[^>=]*>/iy;

/** @param mostHrefs reading ends behind one more @returns null when only `HtmlReader` can tell. */
export function plainOutline(html: string, mostHrefs: number): PlainOutline | null {
  const outline: PlainOutline = { hrefs: [], titles: [] };
  let at = 0;
  for (;;) {
    OTHERS.lastIndex = at;
    OTHERS.test(html);
    const tag = html.indexOf('<', OTHERS.lastIndex);
    if (tag === -1 || outline.hrefs.length > mostHrefs) return outline;
    const end = specialTagEnd(html, tag, outline);
    // As many as one expression takes, and the next is of the same kind.
    if (end === -1 && OTHERS.lastIndex === at) return null;
    at = end === -1 ? OTHERS.lastIndex : end;
  }
}

/** @returns where the tag ends, with its text or its shapes; -1 when it is none of those, or not a plain one. */
function specialTagEnd(html: string, tag: number, { hrefs, titles }: PlainOutline): number {
  const link = matchAt(LINK, tag, html);
  if (link !== null) {
    const href = link[1] ?? link[2] ?? link[3];
    if (href !== undefined) hrefs.push(href);
    return LINK.lastIndex;
  }
  const element = matchAt(TEXT_ELEMENT, tag, html)?.[1]?.toLowerCase();
  if (element === undefined) return matchAt(SVG, tag, html) === null ? -1 : svgEnd(html, SVG.lastIndex);
  const start = TEXT_ELEMENT.lastIndex;
  const end = element === 'script' ? scriptEnd(html, start) : textEnd(html, element, start);
  if (element === 'title' && end > start) titles.push(html.slice(start, end));
  return end;
}

/** @param from behind the tag that begins the SVG */
function svgEnd(html: string, from: number): number {
  for (let at = from; ; at = SHAPES.lastIndex) {
    SHAPES.lastIndex = at;
    SHAPES.test(html);
    if (matchAt(SVG_END, SHAPES.lastIndex, html) !== null) return SVG_END.lastIndex;
    if (SHAPES.lastIndex === at) return -1;
  }
}

function matchAt(expression: RegExp, index: number, html: string): RegExpExecArray | null {
  expression.lastIndex = index;
  return expression.exec(html);
}

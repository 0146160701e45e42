/**
 * What the HTML standard says of elements by name, as far as reading a page needs it. Names are lower case.
 * Sources: §13.1.2 (void elements), §13.2.6.4 and §13.2.6.5 (tree construction).
 */

/** How the content of an element is read: as markup, or as text up to its own end tag. */
export const Content = {
  /** Tags, comments and character references count. */
  markup: 0,
  /** Only character references count (RCDATA). */
  escapable: 1,
  /** Nothing counts (RAWTEXT). */
  raw: 2,
  /** As raw, but `<!-- <script>` hides an end tag. */
  script: 3,
  /** Nothing counts, and no end tag ends it. */
  plain: 4,
} as const;
export type Content = (typeof Content)[keyof typeof Content];

export interface ElementRules {
  readonly isVoid: boolean;
  readonly content: Content;
  /** Innermost open elements that end where this one begins. */
  readonly closes: ReadonlySet<string> | null;
}

const NO_RULES: ElementRules = { isVoid: false, content: Content.markup, closes: null };

const words = (text: string): string[] => text.split(' ');

const voidNames = words(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
);

const contents: Readonly<Record<string, Content>> = {
  title: Content.escapable,
  textarea: Content.escapable,
  style: Content.raw,
  xmp: Content.raw,
  iframe: Content.raw,
  noembed: Content.raw,
  noframes: Content.raw,
  script: Content.script,
  plaintext: Content.plain,
};

/** Which elements end where another begins. Fewer than in the standard: a spider's selectors rely on this tree. */
const closings: readonly (readonly [openers: string, closed: string])[] = [
  ['tr', 'tr th td'],
  ['th', 'th'],
  ['td', 'thead th td'],
  ['tbody tfoot', 'thead tbody'],
  ['body', 'head link script'],
  ['li', 'li'],
  ['dd dt', 'dd dt'],
  ['rt rp', 'rt rp'],
  ['option', 'option'],
  ['optgroup', 'optgroup option'],
  ['select input output button datalist textarea', 'input option optgroup select button datalist textarea'],
  [
    'p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form ' +
      'header hr main nav ol pre section table ul',
    'p',
  ],
];

const rules = buildRules();

/** The rules of an HTML element; one that the standard does not know has none. */
export function rulesOf(name: string): ElementRules {
  return rules.get(name) ?? NO_RULES;
}

/** Names of elements whose content is text that ends at their end tag. */
export const textElements: readonly string[] = Object.keys(contents).filter((name) => name !== 'plaintext');

/** HTML elements that end SVG and MathML when they begin within (§13.2.6.5). `font` does so with some attributes. */
export const breakouts: ReadonlySet<string> = new Set(
  words(
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu ' +
      'meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var',
  ),
);
export const fontBreakouts: ReadonlySet<string> = new Set(['color', 'face', 'size']);

/** SVG elements whose content is HTML. */
export const svgIntegrationPoints: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title']);
/** MathML elements whose content is HTML, but for `mglyph` and `malignmark`. */
export const mathTextElements: ReadonlySet<string> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext']);

function buildRules(): Map<string, ElementRules> {
  const byName = new Map<string, ElementRules>();
  const add = (name: string, more: Partial<ElementRules>) =>
    byName.set(name, { ...rulesIn(byName, name), ...more });
  for (const name of voidNames) add(name, { isVoid: true });
  for (const [name, content] of Object.entries(contents)) add(name, { content });
  for (const [openers, closed] of closings) {
    const names = new Set(words(closed));
    for (const name of words(openers)) add(name, { closes: names });
  }
  return byName;
}

function rulesIn(byName: ReadonlyMap<string, ElementRules>, name: string): ElementRules {
  return byName.get(name) ?? NO_RULES;
}

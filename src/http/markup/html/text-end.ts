/** Where the text of elements like `script` and `title` ends: at their own end tag, whatever looks like markup before. */

const AFTER_NAME = '(?=[\\t\\n\\f\\r />])';
/** What changes how a script is read (HTML standard §13.2.5.15 to §13.2.5.31). */
const SCRIPT_PARTS = new RegExp(`<!--|-->|<(/?)script${AFTER_NAME}`, 'gi');

const endTags = new Map<string, RegExp>();

/**
 * @param name of the element, lower case
 * @param from where its text begins
 * @returns the index of the `<` of its end tag; the length of the page when there is none.
 */
export function textEnd(html: string, name: string, from: number): number {
  const end = endTagOf(name);
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** As `textEnd`, for a script: an end tag within `<!-- <script>` closes only that inner script. */
export function scriptEnd(html: string, from: number): number {
  const end = textEnd(html, 'script', from);
  return html.slice(from, end).includes('<!--') ? escapedScriptEnd(html, from) : end;
}

function escapedScriptEnd(html: string, from: number): number {
  let inComment = false;
  let inInnerScript = false;
  SCRIPT_PARTS.lastIndex = from;
  for (let part = SCRIPT_PARTS.exec(html); part !== null; part = SCRIPT_PARTS.exec(html)) {
    if (part[0] === '<!--') {
      inComment = true;
      // The same dashes may end it: `<!-->`.
      SCRIPT_PARTS.lastIndex -= 2;
    } else if (part[0] === '-->') {
      inComment = false;
      inInnerScript = false;
    } else if (part[1] === '') {
      inInnerScript = inComment;
    } else if (inInnerScript) {
      inInnerScript = false;
    } else {
      return part.index;
    }
  }
  return html.length;
}

function endTagOf(name: string): RegExp {
  let expression = endTags.get(name);
  if (expression === undefined) {
    expression = new RegExp(`</${name}${AFTER_NAME}`, 'gi');
    endTags.set(name, expression);
  }
  return expression;
}

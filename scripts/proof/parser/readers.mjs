/** How crawlnode, parse5 and lxml read the links and titles of one page, each in the same shape. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parse } from 'parse5';
import { buildHtmlTree, hrefsOf, outlineOf } from '../../../dist/internal.js';

const HTML = 'http://www.w3.org/1999/xhtml';

/** By the pass that builds no tree. */
export function streamed(html) {
  const { hrefs, titles, baseHref } = outlineOf(html);
  return { hrefs: [...hrefs], titles: [...titles], base: baseHref };
}

/** By the tree that css() and `$` work on. */
export function walked(html) {
  const { document, baseHref } = buildHtmlTree(html);
  const titles = [];
  visit(document, (node) => {
    if (node.type === 'text' && node.parent.name === 'title') titles.push(node.data);
  });
  return { hrefs: hrefsOf([document]), titles, base: baseHref };
}

/** By parse5, without scripting as a crawler is: elements of any namespace, contents of templates included. */
export function standard(html) {
  const found = { hrefs: [], titles: [], base: null };
  const stack = [parse(html, { scriptingEnabled: false })];
  while (stack.length > 0) {
    const node = stack.pop();
    const href = node.attrs?.find(({ name, prefix }) => name === 'href' && !prefix)?.value;
    if ((node.tagName === 'a' || node.tagName === 'area') && href !== undefined) found.hrefs.push(href);
    if (node.tagName === 'base' && node.namespaceURI === HTML && !node.inTemplate)
      found.base ??= href ?? null;
    if (node.nodeName === '#text' && node.parentNode.tagName === 'title') found.titles.push(node.value);
    const children = [...(node.content?.childNodes ?? []), ...(node.childNodes ?? [])];
    for (const child of children) child.inTemplate = node.inTemplate || node.content !== undefined;
    stack.push(...children.reverse());
  }
  return found;
}

function visit(root, look) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    look(node);
    for (let i = (node.children?.length ?? 0) - 1; i >= 0; i--) stack.push(node.children[i]);
  }
}

const PYTHON = `
import json, sys
from lxml import html
for line in sys.stdin:
    page = json.loads(line)
    try:
        tree = html.document_fromstring(page.encode(), parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
        hrefs = [e.get("href") for e in tree.iter("a", "area") if e.get("href") is not None]
        titles = [t for e in tree.iter("title") for t in ([e.text] if e.text else []) + [c.tail for c in e if c.tail]]
        print(json.dumps({"hrefs": hrefs, "titles": titles}), flush=True)
    except Exception as error:
        print(json.dumps({"error": str(error)}), flush=True)
`;

/** lxml in a process of its own; null where it is not installed. */
export async function startLxml() {
  const python = spawn('/usr/bin/python3', ['-c', PYTHON], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  const read = async (html) => {
    // Lone surrogates and NUL are no text to it.
    python.stdin.write(`${JSON.stringify(html.toWellFormed().replaceAll('\0', '\ufffd'))}\n`);
    const { value, done } = await lines.next();
    return done ? null : JSON.parse(value);
  };
  if ((await read('<p>')) === null) return null;
  return { read, stop: () => python.stdin.end() };
}

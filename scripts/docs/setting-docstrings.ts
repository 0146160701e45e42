/** The docstrings of the settings in src/settings/sections/, of which each ends with the unit and the default. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { definitionOf } from '../../src/settings/schema.js';

const sections = fileURLToPath(new URL('../../src/settings/sections/', import.meta.url));

/** By the names of the settings. */
const docstrings = new Map(
  readdirSync(sections).flatMap((file) => docstringsIn(readFileSync(`${sections}${file}`, 'utf8'))),
);

/** What a setting means, without its unit and default. @throws Error where the docstring does not end with them */
export function meaningOf(name: string): string {
  const text = docstrings.get(name) ?? '';
  const { unit, default: value } = definitionOf(name)!;
  const end = `${unit && ` Unit: ${unit}.`} Default: ${JSON.stringify(value)}.`;
  if (text.endsWith(end)) return text.slice(0, -end.length);
  throw new Error(`The docstring of ${name} has to end with "${end.trim()}".`);
}

function docstringsIn(source: string): [name: string, text: string][] {
  const found: [string, string][] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    const [docstring] = ts.isPropertyAssignment(node) ? ts.getJSDocCommentsAndTags(node) : [];
    if (docstring === undefined || !ts.isPropertyAssignment(node)) return;
    const text = ts.getTextOfJSDocComment(docstring.comment) ?? '';
    found.push([node.name.getText(), text.replace(/\s+/g, ' ').replaceAll('*\\/', '*/')]);
  };
  visit(ts.createSourceFile('section.ts', source, ts.ScriptTarget.Latest, true));
  return found;
}

/**
 * Links, titles and base of real and of fuzzed pages, against parse5 and lxml. Run after `npm run build`:
 * `node scripts/proof/parser-comparison.mjs [--fuzzed 25000] [--most 8000] [--seed 1] [folder…]`. The folders hold HTML;
 * by default those of Debian's -doc packages. It fails on a difference that docs/internals/html.md does not list.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { differenceOf, foundBy } from './parser/differences.mjs';
import { fuzzedPages } from './parser/fuzzed-pages.mjs';
import { standard, startLxml, streamed, walked } from './parser/readers.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fuzzed: { type: 'string', default: '25000' },
    most: { type: 'string', default: '8000' },
    seed: { type: 'string', default: '1' },
  },
});
const folders = positionals.length > 0 ? positionals : ['/usr/share/doc', '/usr/share/qt5/doc'];
/** Real pages that fuzzed ones are cut from. */
const FUZZED_FROM = 200;
const SHOWN = 3;

const files = await htmlFiles(folders, Number(options.most));
const lxml = await startLxml();
const real = await compare(pagesOf(files));
const cut = files.slice(0, FUZZED_FROM).map((file) => readFileSync(file, 'utf8'));
const fuzzed = await compare(named(fuzzedPages(Number(options.fuzzed), cut, Number(options.seed))));
lxml?.stop();

const table = new Table({
  head: [
    '',
    'pages',
    'stream = tree',
    '= parse5',
    'differences listed',
    'not listed',
    '= lxml',
    'lxml = parse5',
  ],
});
for (const [name, result] of Object.entries({ real, fuzzed })) {
  table.push([
    name,
    result.pages,
    result.agree,
    result.asStandard,
    total(result.listed),
    result.unlisted,
    ...lxmlColumns(result),
  ]);
}
console.log(table.toString());
for (const [name, { listed }] of Object.entries({ real, fuzzed })) {
  for (const [reason, count] of Object.entries(listed)) console.log(`${name}: ${count} ${reason}`);
}
const wrong = [real, fuzzed].some(({ pages, agree, unlisted }) => agree < pages || unlisted > 0);
console.log(wrong ? 'parser comparison: BROKEN' : 'parser comparison: every difference is a listed one');
process.exitCode = wrong ? 1 : 0;

async function compare(pages) {
  const result = { pages: 0, agree: 0, asStandard: 0, listed: {}, unlisted: 0, asLxml: 0, lxmlAsStandard: 0 };
  for (const [name, html] of pages) {
    result.pages += 1;
    const own = streamed(html);
    if (JSON.stringify(own) === JSON.stringify(walked(html))) result.agree += 1;
    else show(`${name}: the stream and the tree differ`, html);
    const expected = standard(html);
    const difference = differenceOf(own, expected, html);
    if (difference === null) result.asStandard += 1;
    else if (difference.listed)
      result.listed[difference.reason] = (result.listed[difference.reason] ?? 0) + 1;
    else if (++result.unlisted <= SHOWN) show(`${name}: ${difference.reason}`, html);
    const other = await lxml?.read(html);
    if (other === undefined || other === null) continue;
    if (other.error === undefined && foundBy(other, false) === foundBy(own, false)) result.asLxml += 1;
    if (other.error === undefined && foundBy(other, false) === foundBy(expected, false))
      result.lxmlAsStandard += 1;
  }
  return result;
}

function show(what, html) {
  console.error(`${what}\n  ${JSON.stringify(html.length > 600 ? `${html.slice(0, 600)}…` : html)}`);
}

function lxmlColumns({ asLxml, lxmlAsStandard }) {
  return lxml === null ? ['not here', 'not here'] : [asLxml, lxmlAsStandard];
}

function total(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

async function htmlFiles(roots, most) {
  const found = [];
  for (const root of roots) {
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      // Links would bring the same page twice.
      if (entry.isFile() && entry.name.endsWith('.html'))
        found.push(path.join(entry.parentPath ?? entry.path, entry.name));
    }
  }
  return found.sort().slice(0, most);
}

function* pagesOf(paths) {
  for (const file of paths) yield [file, readFileSync(file, 'utf8')];
}

function* named(pages) {
  let n = 0;
  for (const page of pages) yield [`fuzzed page ${n++}`, page];
}

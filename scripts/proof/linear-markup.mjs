/**
 * Markup that once took time quadratic in its length: each input at n and at 4n, in one run. Run after `npm run build`:
 * `node --expose-gc scripts/proof/linear-markup.mjs [characters]`, collecting garbage before each measurement.
 * Fails where four times the input costs more than five times the CPU. What is refused by name counts as an answer.
 */
import Table from 'cli-table3';
import { Request, Response } from '../../dist/index.js';

/** CPU of 4n over that of n that is still linear, with the noise of a shared machine. */
const MOST_RATIO = 5;
const ROUNDS = 3;
/** Characters at n; siblings for selectors. */
const CHARACTERS = Number(process.argv[2] ?? 1_000_000);
const SIBLINGS = 20_000;
/** Below this a ratio says nothing. */
const LEAST_MS = 2;

const url = 'https://example.org/';
const headers = { 'content-type': 'text/html; charset=utf-8' };
const page = (html) =>
  new Response({ url, status: 200, headers, body: Buffer.from(html), request: new Request(url) });
const repeated = (piece) => (scale) => piece.repeat((CHARACTERS * scale) / piece.length);
const opened = (open, close) => (scale) => {
  const n = (CHARACTERS * scale) / (open.length + close.length);
  return open.repeat(n) + close.repeat(n);
};
const siblings = (piece) => (scale) => piece.repeat(SIBLINGS * scale);

const inBody = (scale) => `<body>${siblings('<p>')(scale)}`;

const links = (response) => response.css('a::attr(href)').getAll();
const select = (selector) => (response) => response.css(selector).length;

const cases = {
  '<div>': [repeated('<div>'), links],
  '<table><tr><td>': [repeated('<table><tr><td>'), links],
  '<ul><li>': [repeated('<ul><li>'), links],
  '<p><span>': [repeated('<p><span>'), links],
  '<b><i>': [repeated('<b><i>'), links],
  '<x>… </y>…': [opened('<x>', '</y>'), links],
  '<div>… </div>…': [opened('<div>', '</div>'), links],
  '<div>, h1::text': [repeated('<div>'), select('h1::text')],
  '<div>, main a': [repeated('<div>'), select('main div')],
  '<div>, $': [repeated('<div>'), (response) => response.$('a').length],
  '<div>, links()': [repeated('<div>'), (response) => response.links().length],
  '<svg><g>… </x>…': [opened('<svg><g>', '</x>'), links],
  '<math><mi>': [repeated('<math><mi>'), links],
  '<p>, p:has(+ p)': [siblings('<p>'), select('p:has(+ p)')],
  '<p>, *:nth-of-type(3)': [siblings('<p>'), select('*:nth-of-type(3)')],
  '<p>, p:nth-child(2n)': [siblings('<p>'), select('p:nth-child(2n)')],
  '<p>, p:nth-last-child(1)': [siblings('<p>'), select('p:nth-last-child(1)')],
  '<a>, p ~ a, a + a': [siblings('<a></a>'), select('p ~ a, a + a')],
  '<p>, p:has(+ p b)': [siblings('<p>'), refused('p:has(+ p b)')],
  '<p>, $ a': [repeated('<p>'), (response) => response.$('a').length],
  '<p>, $ p:nth-child(2n)': [siblings('<p>'), (response) => response.$('p:nth-child(2n)').length],
  '<p>, $ p:has(+ p)': [siblings('<p>'), (response) => response.$('p:has(+ p)').length],
  '<p>, $ p ~ p': [siblings('<p>'), (response) => response.$('p ~ p').length],
  '<p>, $ p:nth-child(2n):eq(3)': [inBody, refusedBy$('p:nth-child(2n):eq(3)')],
};

const table = new Table({ head: ['input', 'ms at n', 'ms at 4n', 'ratio'] });
let broken = false;
for (const [name, [build, ask]] of Object.entries(cases)) {
  const [small, large] = [1, 4].map((scale) => build(scale));
  const costs = { small: [], large: [] };
  // Alternating, so that a busy spell of the machine meets both.
  for (let round = 0; round <= ROUNDS; round++) {
    costs.small.push(cpuMs(() => ask(page(small))));
    costs.large.push(cpuMs(() => ask(page(large))));
  }
  // The first round compiles. The least is what noise has not touched.
  const [n, fourN] = [costs.small, costs.large].map((all) => Math.min(...all.slice(1)));
  const ratio = fourN / Math.max(n, LEAST_MS);
  if (ratio > MOST_RATIO) broken = true;
  table.push([name, n.toFixed(1), fourN.toFixed(1), ratio.toFixed(2)]);
}
console.log(table.toString());
console.log(broken ? 'linear markup: BROKEN' : `linear markup: 4n costs at most ${MOST_RATIO} times n`);
process.exitCode = broken ? 1 : 0;

/** For a selector without a bound linear in the page: answered, or stopped by name. */
function refused(selector) {
  return (response) => {
    try {
      return response.css(selector).length;
    } catch (error) {
      if (error.code === 'selector_cost' && error.message.includes(selector)) return 0;
      throw error;
    }
  };
}

/** The same of `$`. */
function refusedBy$(selector) {
  return (response) => {
    try {
      return response.$('body').find(selector).length;
    } catch (error) {
      if (error.code === 'selector_cost' && error.message.includes(selector)) return 0;
      throw error;
    }
  };
}

function cpuMs(work) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * A process of linear-markup.mjs, given the characters at n: it prints the name of each input, and the CPU time in ms that an
 * answer takes at n and at 4n. What is refused by name counts as an answer.
 */
import { Request, Response } from '../../../dist/index.js';

const characters = Number(process.argv[2]);
const SIBLINGS = 20_000;
const ROUNDS = 3;

const url = 'https://example.org/';
const headers = { 'content-type': 'text/html; charset=utf-8' };
const page = (html) =>
  new Response({ url, status: 200, headers, body: html, request: new Request(url), maxNodes: 0 });
const repeated = (piece) => (characters) => piece.repeat(characters / piece.length);
const opened = (open, close) => (characters) => {
  const n = characters / (open.length + close.length);
  return open.repeat(n) + close.repeat(n);
};
const siblings = (piece) => (_, scale) => piece.repeat(SIBLINGS * scale);
const inBody = (_, scale) => `<body>${'<p>'.repeat(SIBLINGS * scale)}`;
const links = (response) => response.css('a::attr(href)').getAll();
const select = (selector) => (response) => response.css(selector).length;
const select$ = (selector) => (response) => response.$('body').find(selector).length;

/** For a selector without a bound linear in the page: answered, or stopped by name. */
const orRefused = (ask, selector) => (response) => {
  try {
    return ask(selector)(response);
  } catch (error) {
    if (error.code === 'selector_cost' && error.message.includes(selector)) return 0;
    throw error;
  }
};

const cases = {
  '<div>': [repeated('<div>'), links],
  '<table><tr><td>': [repeated('<table><tr><td>'), links],
  '<ul><li>': [repeated('<ul><li>'), links],
  '<p><span>': [repeated('<p><span>'), links],
  '<b><i>': [repeated('<b><i>'), links],
  '<x>… </y>…': [opened('<x>', '</y>'), links],
  '<div>… </div>…': [opened('<div>', '</div>'), links],
  '<div>, h1::text': [repeated('<div>'), select('h1::text')],
  '<div>, main div': [repeated('<div>'), select('main div')],
  '<div>, $': [repeated('<div>'), select$('a')],
  '<div>, links()': [repeated('<div>'), (response) => response.links().length],
  '<svg><g>… </x>…': [opened('<svg><g>', '</x>'), links],
  '<math><mi>': [repeated('<math><mi>'), links],
  '<p>, p:has(+ p)': [siblings('<p>'), select('p:has(+ p)')],
  '<p>, *:nth-of-type(3)': [siblings('<p>'), select('*:nth-of-type(3)')],
  '<p>, p:nth-child(2n)': [siblings('<p>'), select('p:nth-child(2n)')],
  '<p>, p:nth-last-child(1)': [siblings('<p>'), select('p:nth-last-child(1)')],
  '<a>, p ~ a, a + a': [siblings('<a></a>'), select('p ~ a, a + a')],
  '<p>, p:has(+ p b)': [siblings('<p>'), orRefused(select, 'p:has(+ p b)')],
  '<p>, $ a': [repeated('<p>'), select$('a')],
  '<p>, $ p:nth-child(2n)': [siblings('<p>'), select$('p:nth-child(2n)')],
  '<p>, $ p:has(+ p)': [siblings('<p>'), select$('p:has(+ p)')],
  '<p>, $ p ~ p': [siblings('<p>'), select$('p ~ p')],
  '<p>, $ p:nth-child(2n):eq(3)': [inBody, orRefused(select$, 'p:nth-child(2n):eq(3)')],
};

for (const [name, [build, ask]] of Object.entries(cases)) {
  const [small, large] = [1, 4].map((times) => build(characters * times, times));
  const costs = { small: [], large: [] };
  // Alternating, so that a busy spell of the machine meets both.
  for (let round = 0; round <= ROUNDS; round++) {
    costs.small.push(cpuMs(() => ask(page(small))));
    costs.large.push(cpuMs(() => ask(page(large))));
  }
  // The first round compiles. The least is what noise has not touched.
  const [n, fourN] = [costs.small, costs.large].map((all) => Math.min(...all.slice(1)));
  console.log(JSON.stringify([name, n, fourN]));
}

function cpuMs(work) {
  globalThis.gc();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * A site made up as it is asked for, in a process of its own: `fork()` it with a shape, it answers with its first URL,
 * and to 'count' with the pages served since the last time.
 *
 * Page n links to its children 2n+1 and 2n+2, so every page is reached, and for the rest to pages that are known by
 * then: half of them the same on every page, as a menu, half spread over the site. In a site of `newLinks` all links of a
 * page are children that no other page links to.
 */
import { once } from 'node:events';
import http from 'node:http';

const { pages, links, kilobytes, hosts, newLinks = false } = JSON.parse(process.argv[2]);
const words =
  'the frontier holds what a node has found and gives it out again in order to whoever asks'.split(' ');
const addresses = Array.from({ length: hosts }, (_, n) => `127.0.0.${n + 1}`);
let port = 0;
let served = 0;

for (const address of addresses) {
  const server = http.createServer(answer);
  server.keepAliveTimeout = 60_000;
  await once(server.listen(port, address), 'listening');
  port = server.address().port;
}
process.send({ url: urlOf(0) });
process.on('message', () => {
  process.send({ served });
  served = 0;
});
process.on('disconnect', () => process.exit());

function answer({ url }, response) {
  const n = Number(/page-(\d+)\.html$/.exec(url)?.[1]);
  if (!(n < pages)) {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<title>none</title>');
    return;
  }
  served++;
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(pageOf(n));
}

function pageOf(n) {
  const targets = targetsOf(n);
  const item = (target) =>
    `<li class="item"><a class="reference internal" href="${hrefOf(target)}#s${n % 7}">Page ${target}</a></li>\n`;
  const menu = targets
    .slice(0, targets.length / 2)
    .map(item)
    .join('');
  const rest = targets
    .slice(targets.length / 2)
    .map(item)
    .join('');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Page ${n} &#8212; a generated site</title>
<link rel="stylesheet" href="/style.css"></head>
<body><nav><ul>\n${menu}</ul></nav><main><h1>Page ${n}</h1>\n${textOf(n)}<ul>\n${rest}</ul></main></body></html>`;
}

function textOf(n) {
  let text = '';
  for (let k = 0; text.length < kilobytes * 1024; k++) {
    const sentence = Array.from(
      { length: 40 },
      (_, i) => words[(n * 7 + k * 3 + i * (1 + (k % 5))) % words.length],
    ).join(' ');
    text += `<p id="p${k}">Of <em>page ${n}</em>: ${sentence} &amp; so on, <code class="literal">k=${k}</code>.</p>\n`;
  }
  return text;
}

function targetsOf(n) {
  if (newLinks) return Array.from({ length: links }, (_, k) => n * links + k + 1);
  const targets = [2 * n + 1, 2 * n + 2].filter((child) => child < pages);
  const menu = Math.floor(links / 2);
  for (let k = 0; k < menu; k++) targets.push(k % pages);
  for (let k = 1; targets.length < links; k++) targets.push((n * 31 + k * 97) % Math.min(pages, 2 * n + 3));
  return targets;
}

/** Relative on one host, as documentation has it; absolute between hosts. */
function hrefOf(n) {
  return hosts === 1 ? `../${pathOf(n)}` : urlOf(n);
}

function urlOf(n) {
  return `http://${addresses[n % hosts]}:${port}/docs/${pathOf(n)}`;
}

function pathOf(n) {
  return `section-${n % 60}/page-${n}.html`;
}

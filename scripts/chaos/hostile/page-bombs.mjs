/**
 * H4: pages that are small on the wire and huge once they are parsed, each crawled by the executable with default settings and a
 * heap of 800 MB: 60 MB in gzip, just under the limit of the ratio (bombs.mjs). Each must end under its name, within 300 MB and 3 s of CPU beside a
 * crawl that only takes the text of such a page. Feeds let the node do other work while they are read, so their time is free.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { crawl, endOf, look, newProject } from '../harness/project.mjs';
import { bombs } from './bombs.mjs';

const MOST_MEGABYTES = 300;
const MOST_SECONDS = 3;
/** A small heap: garbage is collected early, and what would need more ends the node. */
const HEAP_MEGABYTES = 800;
const noteUsage = new URL('./note-usage.mjs', import.meta.url).href;

const spider = `
import { CSVFeedSpider, Request, SitemapSpider, Spider, XMLFeedSpider, type Response } from 'crawlnode';
const [kind, argument, url] = JSON.parse(process.env.BOMB!) as [string, string, string];
const startUrls = [url];
const name = 'walk';
class Page extends Spider {
  name = name;
  startUrls = startUrls;
  *parse(response: Response) {
    if (kind === 'text') yield { n: response.text.length };
    else if (kind === 'css') yield { n: response.css(argument).getAll().length };
    else if (kind === 'html') yield { n: response.css(argument).get()?.length };
    else if (kind === '$ html') yield { n: response.$(argument).html()?.length };
    else if (kind === 'xpath') yield { n: response.xpath(argument).getAll().length };
    else if (kind === '$') yield { n: response.$(argument).length };
    else if (kind === 'links') yield { n: response.links().length };
    else if (kind === 'json') yield { n: Object.keys(response.json() as object).length };
    else if (kind === 'form') yield { n: Request.fromForm(response).url.length };
  }
}
class Csv extends CSVFeedSpider {
  name = name;
  startUrls = startUrls;
  override parseRow() { return undefined; }
}
class Feed extends XMLFeedSpider {
  name = name;
  startUrls = startUrls;
  override itertag = 'item';
  override parseNode() { return undefined; }
}
class Sitemap extends SitemapSpider {
  name = name;
  override sitemapUrls = startUrls;
  override parse() { return undefined; }
}
`;
const classes = { csv: 'Csv', feed: 'Feed', sitemap: 'Sitemap' };

const isHtml = ({ type }) => type === 'text/html';

/** Two rows, which run beside each other. */
export const pageBombs = [
  rowOf(bombs.filter(isHtml), 'of HTML that would be millions of nodes'),
  rowOf(
    bombs.filter((bomb) => !isHtml(bomb)),
    'of XML, JSON and CSV that would be millions of nodes or values',
  ),
];

function rowOf(bombs, what) {
  return {
    row: 'H4',
    fault: `${bombs.length} pages of 60 MB ${what}`,
    isLong: true,
    engines: ['embedded'],
    async run() {
      const page = { body: Buffer.alloc(0), type: '' };
      const server = http.createServer((_, response) => {
        response.writeHead(200, { 'content-type': page.type, 'content-encoding': 'gzip' }).end(page.body);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${server.address().port}/bomb`;
      const problems = [];
      const most = { megabytes: 0, seconds: 0 };
      const texts = new Map();
      for (const bomb of bombs) {
        page.body = await promisify(gzip)(bomb.make(randomBytes(260_000).toString('base64')));
        page.type = bomb.type;
        if (!texts.has(bomb.type)) texts.set(bomb.type, await crawlOnce({ by: 'text' }, url));
        const text = texts.get(bomb.type);
        const run = await crawlOnce(bomb, url);
        const megabytes = run.megabytes - text.megabytes;
        const seconds = bomb.isFeed ? 0 : run.seconds - text.seconds;
        most.megabytes = Math.max(most.megabytes, megabytes);
        most.seconds = Math.max(most.seconds, seconds);
        const name = `${bomb.name} by ${bomb.by} ${bomb.argument ?? ''}`;
        const wanted = bomb.expected ?? 'page';
        if (run.end !== wanted) problems.push(`${name} ended as ${run.end}, not ${wanted}`);
        if (megabytes > MOST_MEGABYTES) problems.push(`${name} took ${Math.round(megabytes)} MB`);
        if (seconds > MOST_SECONDS) problems.push(`${name} took ${seconds.toFixed(1)} s`);
      }
      server.close();
      const note = `at most ${Math.round(most.megabytes)} MB and ${most.seconds.toFixed(1)} s beside the text`;
      return { problems, times: bombs.length, note };
    },
  };
}

/** One crawl of the page: how it ends, the peak memory and the CPU time of the node. */
async function crawlOnce({ by, argument = '' }, url) {
  const settings = { ALLOW_PRIVATE_ADDRESSES: true, LOG_LEVEL: 'WARNING' };
  const project = await newProject(null, settings, `${spider}export default ${classes[by] ?? 'Page'};`);
  const file = path.join(project.dir, 'usage.json');
  const env = {
    BOMB: JSON.stringify([by, argument, url]),
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES} --import=${noteUsage}`,
    USAGE_FILE: file,
  };
  const node = crawl(project, ['--exit-when-done', '-o', 'out.jsonl'], { env });
  const { code } = await endOf(node);
  const usage = await readFile(file, 'utf8').catch(() => '{"megabytes":null,"seconds":null}');
  const run = { ...JSON.parse(usage), end: 'page' };
  const { failures } = await look(project);
  if (failures.length > 0) run.end = failures[0].reason;
  else if (code !== 0) run.end = `exit code ${code}`;
  return run;
}

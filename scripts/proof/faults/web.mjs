/** What the web does to a page: every ending in its counter, and the crawl ends. */
import { gzipSync } from 'node:zlib';
import { freePort } from '../ports.mjs';
import { crawl, endOf, html, judge, newProject, startRedis, startSite } from './stage.mjs';

export const web = {
  'web: every ending in its counter, Redis': () => everyEnding(true),
  'web: every ending in its counter, embedded': () => everyEnding(false),
};

const spider = `
import { Request, Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = [this.args.start];
  *parse(response: Response) {
    for (const url of response.css('a::attr(href)').getAll()) {
      const full = new URL(url, response.url).href;
      yield new Request(full, { callback: this.good, errback: this.bad, meta: { from: full } });
    }
  }
  good(response: Response) {
    return { url: response.meta.from, end: 'callback', status: response.status, size: response.text.length };
  }
  bad(failure: any) {
    return { url: failure.request.meta.from, end: 'errback', reason: failure.reason, status: failure.status };
  }
}
`;

async function everyEnding(onRedis) {
  const closed = await freePort();
  const answers = {
    '/gzip': (response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        .end(gzipSync('x'.repeat(5_000))),
    '/404': (response) => response.writeHead(404).end('no'),
    '/500': (response) => response.writeHead(500).end('no'),
    '/401': (response) => response.writeHead(401).end('no'),
    '/204': (response) => response.writeHead(204).end(),
    '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
    '/ping': (response) => response.writeHead(302, { location: '/pong' }).end(),
    '/pong': (response) => response.writeHead(302, { location: '/ping' }).end(),
    '/js': (response) => response.writeHead(302, { location: 'javascript:alert(1)' }).end(),
    '/file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    '/nowhere': (response) => response.writeHead(302).end(),
    '/silent': () => {},
    '/stall': (response) => void response.writeHead(200, { 'content-length': '100' }).write('x'),
    '/reset': (response) => response.socket.destroy(),
    '/cut': (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('x');
      response.socket.destroySoon();
    },
    '/image': (response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0, 255])),
    '/encoded': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
    '/unknown': (response) => response.writeHead(200, { 'content-encoding': 'bogus' }).end('bogus'),
    '/fine': (response) => html(response),
  };
  const others = ['http://no.such.host.invalid/', `http://127.0.0.1:${closed}/`, '/hop0'];
  const site = await startSite({
    answer: (path, response) => {
      const hop = /^\/hop(\d+)$/.exec(path);
      if (path === '/') html(response, [...Object.keys(answers), ...others]);
      else if (hop) response.writeHead(302, { location: `/hop${Number(hop[1]) + 1}` }).end();
      else answers[path](response);
      return true;
    },
  });
  const settings = { DOWNLOAD_TIMEOUT: 1, RETRY_TIMES: 1, RETRY_BACKOFF: 0.1 };
  const project = await newProject(onRedis ? await startRedis() : null, settings, spider);
  const node = crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl']);
  const { code } = await endOf(node);
  const { state, problems } = await judge(site, project, { expected: [] });
  const { counters, failures } = state;
  if (code !== 0) problems.push(`exit ${code}: ${node.said.slice(-300)}`);
  const wanted = {
    'httperror/response_ignored_status_count/404': 1,
    'httperror/response_ignored_status_count/401': 1,
    'retry/reason_count/500 Internal Server Error': 1,
    'redirect/max_times_reached': 1,
    'redirect/bad_location': 2,
    'httperror/response_ignored_status_count/302': 1,
    'downloader/exception_type_count/connection_refused': 2,
  };
  for (const [name, count] of Object.entries(wanted)) {
    if (counters[name] !== count) problems.push(`${name} is ${counters[name]} instead of ${count}`);
  }
  const exceptions = Object.entries(counters).filter(([name]) => name.includes('exception_type'));
  const reasons = failures.map(
    ({ reason, record }) => `${JSON.parse(record).u.replace(/^http:\/\/[^/]*/, '')} ${reason}`,
  );
  const hops = site.log.filter(({ path }) => path.startsWith('/hop')).length;
  return {
    figures: `done ${state.done}, failed ${state.failed}: ${reasons.join(', ')}; hops ${hops}; ${exceptions.map(([name, n]) => `${name.split('/').at(-1)} ${n}`).join(', ')}`,
    problems,
  };
}

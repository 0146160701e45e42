/**
 * Downloads through the proxies that Debian has: tinyproxy, squid and microsocks, each without and with a password. Each case says
 * what a download must end with.
 *
 * Needs a build, openssl, and those of the servers that are to be tried: `node scripts/proof/proxies.mjs`. Servers that are not
 * installed are named and left out. Exit code 1 when a case ends otherwise.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { createDownloader } from '../../dist/downloader/downloader.js';
import { noProxies } from '../../dist/downloader/proxies/proxy-routes.js';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { freePort } from './ports.mjs';
import { credentials, proxyServers, startProxyServer } from './proxies/servers.mjs';
import { CRAWL_PAGES, startSite } from './proxies/site.mjs';

const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const never = new AbortController().signal;
const said = [];
const listening = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [
    level,
    (fields, message) => said.push(`${JSON.stringify(fields)} ${message}`),
  ]),
);

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'visit';
  parse(response) { return response.followAll('a'); }
}
`;

/** Each case returns what it saw; a text that begins with `!` is a failure. Null: not for this server. */
const cases = {
  'http page': async ({ by, site, isSocks }) => {
    const { headers, url } = json(await by().get(`${site.http}/a?b=c`));
    return url === '/a?b=c' && `http://${headers.host}` === site.http && !('proxy-authorization' in headers)
      ? isSocks
        ? 'tunnel'
        : 'forwarded'
      : `! ${url} ${headers.host}`;
  },
  'https page': async ({ by, site }) =>
    is(json(await by().get(`${site.https}/a?b=c`)).url, '/a?b=c', 'tunnel'),
  'POST over https': async ({ by, site }) => {
    const page = await by().get(`${site.https}/`, { method: 'POST', body: Buffer.from('grüße') });
    return is(json(page).body, 'grüße', 'sent');
  },
  'gzip over https': async ({ by, site }) =>
    is((await by().get(`${site.https}/gzip`)).body.toString(), 'packed', 'decoded'),
  'three https pages, one connection': async ({ by, site }) => {
    const client = by();
    const ports = [];
    for (let n = 0; n < 3; n += 1) ports.push(json(await client.get(`${site.https}/${n}`)).port);
    return is(new Set(ports).size, 1, 'kept');
  },
  'three bodies in a small buffer': async ({ by, site }) => {
    const client = by({ bufferBytes: 300_000 });
    const pages = await Promise.all([1, 2, 3].map(() => client.get(`${site.https}/big`)));
    return is(pages.map(({ body }) => body.length).join(), '900000,900000,900000', 'complete');
  },
  'twelve hanging pages, then another': async ({ by, site }) => {
    const client = by();
    const hanging = Array.from({ length: 12 }, () => client.start(`${site.https}/hang`));
    for (let n = 0; n < 100 && !hanging.every(({ isStalled }) => isStalled); n += 1) await sleep(100);
    const stalled = hanging.filter(({ isStalled }) => isStalled).length;
    const page = await client.get(`${site.https}/`);
    for (const { abort, result } of hanging) {
      abort();
      await result.catch(() => {});
    }
    return is(`${stalled} ${page.status}`, '12 200', 'stalled');
  },
  'body cut short': async ({ by, site }) => reason(by().get(`${site.https}/cut`), 'body_truncated'),
  'site closes': async ({ by, site }) => reason(by().get(`${site.https}/reset`), 'connection_reset'),
  'odd header, then a lenient retry': async ({ by, site }) => {
    const first = await reason(by().get(`${site.https}/odd`), 'bad_header');
    const again = await by().get(`${site.https}/odd`, { attempts: 1 });
    return first.startsWith('!') ? first : is(again.body.toString(), 'odd', 'read');
  },
  'certificate not trusted': async ({ by, site }) => reason(by().get(`${site.untrusted}/`), 'tls'),
  'dead site, https': async ({ by, deadPort }) =>
    reason(by().get(`https://127.0.0.1:${deadPort}/`), 'proxy_refused'),
  'dead site, http': async ({ by, deadPort, isSocks }) => {
    const page = by().get(`http://127.0.0.1:${deadPort}/`);
    if (isSocks) return reason(page, 'proxy_refused');
    const { status } = await page;
    return status >= 500 ? `status ${status}` : `! status ${status}`;
  },
  'private address in the URL': async ({ by, site }) =>
    reason(by({ allowPrivateAddresses: false }).get(`${site.http}/`), 'private_address'),
  'no password': async ({ by, server, hasPassword, site }) =>
    hasPassword ? reasons(by, [server.urlWithout], site, 'proxy_auth') : null,
  'wrong password': async ({ by, server, name, hasPassword, site }) => {
    const wrong = server.urlWith({ ...credentials, password: 'wrong-of-proofs' });
    if (!hasPassword) return null;
    if (name !== 'tinyproxy') return reasons(by, [wrong], site, 'proxy_auth');
    // It answers 401, as a site may too.
    const { status } = await by({}, [wrong]).get(`${site.http}/`);
    return status === 401
      ? reason(by({}, [wrong]).get(`${site.https}/`), 'proxy_auth')
      : `! status ${status}`;
  },
  'crawl of 30 pages': async ({ crawl }) => crawl(),
  'a dead proxy first': async ({ by, server, deadPort, site }) => {
    const client = by({}, [`http://127.0.0.1:${deadPort}`, server.url]);
    let failed = 0;
    for (let n = 0; n < 4; n += 1) failed += (await client.get(`${site.https}/${n}`)).failedProxies ?? 0;
    return is(failed, 1, 'replaced once');
  },
  'proxy killed': async ({ by, server, site }) => {
    await server.stop();
    return reasons(by, [server.url], site, 'proxy_error');
  },
};

const { servers, missing } = proxyServers();
for (const name of missing) console.error(`${name} is not installed and is left out`);
const results = new Map(Object.keys(cases).map((name) => [name, []]));
try {
  const dir = await tempDir('proxies');
  const site = await startSite(dir);
  try {
    for (const kind of servers) await runAll(kind, site, path.join(dir, `${kind.name}-${kind.hasPassword}`));
  } finally {
    await site.stop();
  }
} finally {
  await cleanUp();
}
const heads = servers.map(({ name, hasPassword }) => (hasPassword ? `${name}, password` : name));
const table = new Table({ head: ['case', ...heads], style: { head: [], border: [] } });
for (const [name, cells] of results) table.push([name, ...cells]);
console.log(table.toString());
const cells = [...results.values()].flat();
const leaks = said.filter((text) => /hunter22-of-proofs|wrong-of-proofs/.test(text));
const failures = cells.filter((cell) => cell.startsWith('!')).length;
console.log(
  `${cells.filter((cell) => cell !== '-').length} cases, ${failures} failed; passwords in messages: ${leaks.length}`,
);
process.exitCode = failures + leaks.length > 0 ? 1 : 0;

async function runAll(kind, site, dir) {
  const server = await startProxyServer(kind, dir);
  const downloaders = [];
  const by = (options = {}, pool = [server.url]) => {
    const downloader = createDownloader({
      ...{
        timeoutMs: 20_000,
        maxBodyBytes: 1_000_000,
        robotsBytes: 500 * 1024,
        warnBodyBytes: 0,
        minBytesPerSecond: 0,
        bufferBytes: 0,
      },
      ...{ failOnDataLoss: true, allowPrivateAddresses: true, userAgent: 'proof', defaultHeaders: {} },
      ...{ concurrency: 4, ca: site.ca, log: listening, ...options },
      proxies: { ...noProxies, pool },
    });
    downloaders.push(downloader);
    const requestFor = (url, more = {}) => ({
      url,
      method: 'GET',
      headers: {},
      body: null,
      cookies: null,
      ...more,
    });
    return {
      start: (url) => downloader.start(requestFor(url), { purpose: 'page' }),
      get: (url, more) => downloader.fetch(requestFor(url, more), { purpose: 'page' }, never),
    };
  };
  const stage = {
    ...{ by, server, site, ...kind, isSocks: server.url.startsWith('socks5') },
    deadPort: await freePort(),
    crawl: () => crawlThrough(server.url, site, dir),
  };
  try {
    for (const [name, run] of Object.entries(cases)) {
      const cell = await run(stage).catch((error) => `! ${error.message}`);
      results.get(name).push(cell ?? '-');
    }
  } finally {
    for (const downloader of downloaders) await downloader.close();
    await server.stop();
  }
}

/** By the executable, as a user would; over https, so that the proxy sees tunnels. */
async function crawlThrough(proxy, site, dir) {
  await mkdir(path.join(dir, 'spiders'), { recursive: true });
  await writeFile(path.join(dir, 'spiders', 'visit.mjs'), spider);
  await writeFile(path.join(dir, 'crawlnode.yaml'), `ROBOTSTXT_OBEY: false\nPROXIES: ['${proxy}']\n`);
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: site.caFile };
  const run = async (...args) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [bin, ...args], { cwd: dir, env });
    said.push(stdout, stderr);
    return stdout;
  };
  await run('seed', 'visit', `${site.https}/crawl/0`);
  await run('crawl', 'visit', '--exit-when-done');
  await run('settings', 'PROXIES');
  const { done, failed } = JSON.parse(await run('stats', 'visit', '--json'));
  return is(`${done} ${failed}`, `${CRAWL_PAGES} 0`, 'all done');
}

function json({ body }) {
  return JSON.parse(body.toString());
}

function is(seen, expected, shown) {
  return seen === expected ? shown : `! ${seen}`;
}

async function reason(page, expected) {
  try {
    return `! status ${(await page).status}`;
  } catch (error) {
    said.push(`${error.message} ${error.cause}`);
    return is(error.reason, expected, expected);
  }
}

/** For a page over http and one over https. */
async function reasons(by, pool, site, expected) {
  const ends = [
    await reason(by({}, pool).get(`${site.http}/`), expected),
    await reason(by({}, pool).get(`${site.https}/`), expected),
  ];
  return ends.find((end) => end.startsWith('!')) ?? expected;
}

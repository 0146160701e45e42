/** The example `spiders/login.ts`: a login with a CSRF token whose session serves all nodes, also after the login's node died. */
import { readFileSync } from 'node:fs';
import type http from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { type RunningCli, startCli } from '../helpers/cli.js';
import { engines, projectOn } from '../helpers/engine-project.js';
import { expectSound } from '../helpers/expect-sound.js';
import { startProxy, type TestProxy } from '../helpers/sites/proxy.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

const spider = readFileSync(new URL('../../spiders/login.ts', import.meta.url), 'utf8');
const AUTHORS = 24;

/** A site that shows its authors only to a session, which takes a token and the cookie that belongs to it. */
class Members {
  /** Answers to requests for authors, by user agent. */
  readonly served = new Map<string, number>();
  readonly refused: string[] = [];
  logins = 0;
  /** Whether an author is answered now; otherwise the request is held. */
  opens: (userAgent: string) => boolean = () => true;
  /** User agents that have asked for authors. */
  readonly asking = new Set<string>();
  readonly #held: (() => boolean)[] = [];

  readonly handler = (request: http.IncomingMessage, response: http.ServerResponse): boolean => {
    const cookies = request.headers.cookie?.split('; ') ?? [];
    const path = request.url ?? '';
    if (path === '/login') this.#login(request, response, cookies);
    else if (!cookies.includes('session=of-a-user') || cookies.length !== 1) {
      this.refused.push(`${path} with ${cookies.join('; ')}`);
      response.writeHead(403).end('log in first');
    } else if (path === '/') {
      const links = Array.from({ length: AUTHORS }, (_, n) => `<a href="/author/${n}">about</a>`);
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="/logout"></a>${links.join('')}`);
    } else this.#author(request, response, path);
    return true;
  };

  /** Answer what may be answered now. */
  release(): void {
    for (const answer of this.#held.splice(0)) if (!answer()) this.#held.push(answer);
  }

  #login(request: http.IncomingMessage, response: http.ServerResponse, cookies: readonly string[]): void {
    if (request.method === 'GET') {
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': ['visitor=7; Path=/; HttpOnly'] })
        .end('<form><input type="hidden" name="csrf_token" value="of-visitor-7"></form>');
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const isRight = cookies.includes('visitor=7') && body.includes('csrf_token=of-visitor-7');
      if (!isRight) return void response.writeHead(403).end('another token');
      this.logins += 1;
      const cookie = ['visitor=; Path=/; Max-Age=0', 'session=of-a-user; Path=/; HttpOnly; SameSite=Lax'];
      response.writeHead(302, { location: '/', 'set-cookie': cookie }).end();
    });
  }

  #author(request: http.IncomingMessage, response: http.ServerResponse, path: string): void {
    const userAgent = request.headers['user-agent'] ?? '';
    this.asking.add(userAgent);
    const answer = () => {
      if (response.destroyed) return true;
      if (!this.opens(userAgent)) return false;
      this.served.set(userAgent, (this.served.get(userAgent) ?? 0) + 1);
      const html = `<h3 class="author-title">${path}</h3>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
      return true;
    };
    if (!answer()) this.#held.push(answer);
    this.release();
  }
}

describe.each(engines)('a login on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: {
      ...{ ROBOTSTXT_OBEY: false, NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1, CONCURRENT_REQUESTS: 4 },
      CONCURRENT_REQUESTS_PER_DOMAIN: 16,
    },
    files: { 'spiders/login.ts': spider.replace('customSettings = { DOWNLOAD_DELAY: 0.5 };', '') },
  });
  let site: Site;
  let members: Members;
  /** Of all requests; null for none. */
  let proxy: TestProxy | null = null;
  afterEach(async () => {
    await expectSound('login', { cwd: here.project.dir });
    await Promise.all([site.close(), proxy?.close()]);
    proxy = null;
  });

  const open = async () => {
    members = new Members();
    site = await startSite({ pages: 0, handler: members.handler });
  };
  const node = (name: string): RunningCli =>
    startCli(
      ['crawl', 'login', '-a', `site=${site.origin}`, '-s', `USER_AGENT=${name}`, '--exit-when-done'],
      { cwd: here.project.dir, env: { PROXIES: proxy?.url() } },
    );
  const authors = () =>
    here.look(async (frontier) => {
      const names: unknown[] = [];
      for await (const entry of frontier.backups.read(['items'])) {
        if (entry.kind === 'items')
          names.push(...entry.values.map((text) => JSON.parse(text as string).name));
      }
      return names.sort();
    }, 'login');
  const expectAll = async () => {
    expect(members.refused).toEqual([]);
    expect(members.logins).toBe(1);
    expect(await authors()).toEqual(Array.from({ length: AUTHORS }, (_, n) => `/author/${n}`).sort());
  };

  const ways: [string, boolean][] = [['', false]];
  // A proxy does not depend on the store, so one engine is enough.
  if (engine === 'redis') ways.push([', through a proxy with a password', true]);
  it.each(ways)(
    'serves pages on the other nodes, when its node is killed right after it%s',
    async (_, isProxied) => {
      await open();
      if (isProxied) proxy = await startProxy({ username: 'me', password: 'hunter2/@' });
      members.opens = (userAgent) =>
        userAgent !== 'one' && members.asking.has('two') && members.asking.has('three');
      const one = node('one');
      await waitFor(() => members.asking.has('one'), { what: 'the first page behind the login' });
      one.kill('SIGKILL');
      await one.wait();
      const others = [node('two'), node('three')];
      for (const other of others) expect(await other.wait()).toMatchObject({ code: 0 });
      await expectAll();
      expect(members.served.get('one')).toBeUndefined();
      expect([...members.served.keys()].sort()).toEqual(['three', 'two']);
      if (proxy !== null) expect(proxy.log.length).toBeGreaterThanOrEqual(AUTHORS + 3);
    },
  );

  it('serves pages on all nodes at once, and inspect shows its cookies without their values', async () => {
    await open();
    members.opens = () => members.asking.size === 3;
    const nodes = [node('one'), node('two'), node('three')];
    for (const each of nodes) expect(await each.wait()).toMatchObject({ code: 0 });
    await expectAll();
    expect([...members.served.keys()].sort()).toEqual(['one', 'three', 'two']);
    const { stdout } = await runHere(['inspect', 'login', `${site.origin}/`], { cwd: here.project.dir });
    expect(stdout).toContain('session=***');
    expect(stdout).not.toContain('of-a-user');
  });
});

/** The dashboard behind a proxy that ends TLS, as on a server that others can reach. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startDashboard } from '../../src/dashboard/dashboard.js';
import { own } from '../helpers/resources.js';
import { tempDir } from '../helpers/temp-dir.js';

const TOKEN = 'correct-horse-battery-staple';
const host = 'crawls.example.com';

/** Ends TLS, and passes on each request as it is. @returns its port */
async function startProxy(port: number): Promise<number> {
  const { dir } = tempDir('tls');
  const [key, cert] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const args = ['req', '-x509', ...curve, '-subj', `/CN=${host}`, '-keyout', key, '-out', cert];
  execFileSync('openssl', args, { stdio: 'ignore' });
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  const proxy = https.createServer(options, (request, response) => {
    const { method, url, headers } = request;
    const passed = http.request({ port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  own({
    name: 'a proxy with TLS',
    close: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  });
  return (proxy.address() as AddressInfo).port;
}

function ask(
  client: typeof http | typeof https,
  port: number,
  headers: Record<string, string>,
  body?: object,
): Promise<{ readonly status: number; readonly cookie: string; readonly text: string }> {
  const options = { port, path: '/api/v1/session', rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const request = client.request({ ...options, method, headers: { host, ...headers } }, (response) => {
      const [cookie = ''] = response.headers['set-cookie'] ?? [];
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, cookie, text }));
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

it('a session that was opened by HTTPS has a cookie that is sent by HTTPS only; by plain HTTP it is as before', async () => {
  const dashboard = await startDashboard({
    ...{
      host: '127.0.0.1',
      port: 0,
      token: TOKEN,
      hostNames: [host],
      allowActions: false,
      metricsOnly: false,
    },
    ...{ version: '1.2.3', list: async () => [], mask: (text: string) => text },
    onUnexpected: (error) => {
      throw error;
    },
  });
  own({ name: 'a dashboard', close: () => dashboard.close() });
  const proxy = await startProxy(dashboard.port);
  const page = { 'content-type': 'application/json', 'x-crawlnode-action': '1' };
  const secure = await ask(https, proxy, { ...page, origin: `https://${host}` }, { token: TOKEN });
  expect(secure).toMatchObject({ status: 200, cookie: expect.stringMatching(/; SameSite=Strict; Secure$/) });
  const pair = secure.cookie.split(';')[0]!;
  expect(JSON.parse((await ask(https, proxy, { cookie: pair })).text)).toMatchObject({ signedIn: true });

  const plain = await ask(http, dashboard.port, { ...page, origin: `http://${host}` }, { token: TOKEN });
  expect(plain).toMatchObject({ status: 200, cookie: expect.stringMatching(/; SameSite=Strict$/) });
  // A page elsewhere gets none, and a header that a proxy may pass on from anybody decides nothing.
  const foreign = { ...page, origin: 'https://evil.example', 'x-forwarded-proto': 'https' };
  expect(await ask(https, proxy, foreign, { token: TOKEN })).toMatchObject({ status: 403, cookie: '' });
});

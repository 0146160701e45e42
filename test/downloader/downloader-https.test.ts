/** Downloads over TLS: whom to trust, under which name, and connections that are kept. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createDownloader,
  type Downloader,
  type DownloaderOptions,
} from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';

const dir = mkdtempSync(join(tmpdir(), 'crawlnode-tls-'));
const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
let port = 0;
let connections = 0;
const cleanups: (() => Promise<void>)[] = [];
let server: https.Server;

/** Every name of which `.test` is the end is this machine. */
const lookup: LookupFunction = (_host, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]);

beforeAll(async () => {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:known.test,IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const { servername } = request.socket as TLSSocket & { servername: string | false };
    response.end(`${request.headers.host} by ${servername}`);
  });
  server.on('secureConnection', () => {
    connections += 1;
  });
  port = await listening(server);
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  connections = 0;
});

afterAll(async () => {
  await closed(server);
  rmSync(dir, { recursive: true });
});

test('a page comes under a trusted certificate, and under no other', async () => {
  const url = `https://127.0.0.1:${port}/`;
  expect(await text(trusting(), url)).toBe(`127.0.0.1:${port} by false`);
  await expect(text(made(), url)).rejects.toMatchObject({ reason: 'tls', retryable: false });
});

test('a server without TLS is named as such', async () => {
  const plain = http.createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port: plainPort } = plain.address() as AddressInfo;
  await expect(text(made(), `https://127.0.0.1:${plainPort}/`)).rejects.toMatchObject({
    ...{ reason: 'tls', retryable: false },
    message: expect.stringContaining('does not speak TLS at this port: is it http://'),
  });
  plain.close();
});

test('a certificate is checked whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    await expect(text(made(), `https://127.0.0.1:${port}/`)).rejects.toMatchObject({ reason: 'tls' });
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  }
});

test('the name of the URL is asked for and has to be in the certificate; a Host header of its own takes its place', async () => {
  const { start } = trusting();
  const ask = async (name: string, headers = {}) =>
    (await start({ ...plain, url: `https://${name}:${port}/`, headers }, asPage).result).body.toString();
  expect(await ask('known.test')).toBe(`known.test:${port} by known.test`);
  await expect(ask('unknown.test')).rejects.toMatchObject({ reason: 'tls' });
  expect(await ask('unknown.test', { host: 'known.test' })).toBe('known.test by known.test');
  await expect(ask('known.test', { host: 'unknown.test' })).rejects.toMatchObject({ reason: 'tls' });
});

test('a connection is kept for the next page of its host', async () => {
  const downloader = trusting();
  for (let n = 0; n < 3; n += 1) await text(downloader, `https://known.test:${port}/${n}`);
  expect(connections).toBe(1);
});

test('plain HTTP on an https port is a TLS error', async () => {
  const site = http.createServer((_request, response) => response.end());
  const url = `https://127.0.0.1:${await listening(site)}/`;
  cleanups.push(() => closed(site));
  await expect(text(trusting(), url)).rejects.toMatchObject({ reason: 'tls' });
});

const plain = { method: 'GET', headers: {}, body: null, cookies: null };

async function text(downloader: Downloader, url: string): Promise<string> {
  return (await downloader.start({ ...plain, url }, asPage).result).body.toString();
}

function trusting(): Downloader {
  return made({ ca: readFileSync(cert) });
}

function made(options: Partial<DownloaderOptions> = {}): Downloader {
  const downloader = createDownloader({
    ...downloaderOptions,
    lookup,
    ...options,
  });
  cleanups.push(() => downloader.close());
  return downloader;
}

async function listening(site: http.Server | https.Server): Promise<number> {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  return (site.address() as AddressInfo).port;
}

function closed(site: http.Server | https.Server): Promise<void> {
  site.closeAllConnections();
  return new Promise((resolve) => site.close(() => resolve()));
}

/** A site over http and https whose paths behave in the ways that downloads are tried with. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/** Pages that link to each other: `/crawl/0` to `/crawl/29`. */
export const CRAWL_PAGES = 30;

/** @returns the URLs of the site, the certificate to trust, another one, and how to end it. */
export async function startSite(dir) {
  const trusted = certificate(dir, 'trusted');
  const servers = [http.createServer(answer), https.createServer(trusted, answer)];
  const untrusted = https.createServer(certificate(dir, 'untrusted'), answer);
  const urls = [];
  for (const server of [...servers, untrusted]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    urls.push(`${server instanceof https.Server ? 'https' : 'http'}://127.0.0.1:${server.address().port}`);
  }
  return {
    ...{
      http: urls[0],
      https: urls[1],
      untrusted: urls[2],
      ca: trusted.cert,
      caFile: path.join(dir, 'trusted.pem'),
    },
    async stop() {
      for (const server of [...servers, untrusted]) {
        server.close();
        server.closeAllConnections();
        await once(server, 'close');
      }
    },
  };
}

function certificate(dir, name) {
  const [key, cert] = [path.join(dir, `${name}.key`), path.join(dir, `${name}.pem`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

function answer(request, response) {
  const { url, socket } = request;
  if (url === '/gzip') return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
  if (url === '/cut') {
    response.writeHead(200, { 'content-length': 1_000 }).write('cut');
    return setTimeout(() => socket.destroy(), 50);
  }
  if (url === '/hang') return;
  if (url === '/reset') return socket.destroy();
  if (url === '/odd') return socket.end('HTTP/1.1 200 OK\r\nX-Odd: a\x01b\r\nContent-Length: 3\r\n\r\nodd');
  if (url === '/big') return response.end(Buffer.alloc(900_000, 'x'));
  const page = /^\/crawl\/(\d+)$/.exec(url)?.[1];
  if (page !== undefined) {
    const next = [2 * page + 1, 2 * page + 2].filter((n) => n < CRAWL_PAGES);
    const links = next.map((n) => `<a href="/crawl/${n}">${n}</a>`).join('');
    return response.writeHead(200, { 'content-type': 'text/html' }).end(links);
  }
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const { method, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body, port: socket.remotePort }));
  });
}

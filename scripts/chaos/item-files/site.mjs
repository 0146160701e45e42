/** The site of the proof: pages in chains, each with an item of three files, and what must become of each file. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { deflateSync } from 'node:zlib';

const CHAINS = 20;

/** `{ kind, body?, reason? }` of a file: how it is answered, and why it fails then. Kinds: ok, status, hang, cut, lie. */
export function fateOf(page, name) {
  const fate = { a: {}, b: { 1: 'status 404', 3: 'status 503', 4: 'cut' }, c: { 5: 'lie', 6: 'status 404' } };
  if (name === 'b' && page % 100 === 2) return { kind: 'hang', reason: 'timeout' };
  const [kind, status] = (fate[name][page % 10] ?? 'ok').split(' ');
  if (kind === 'status') return { kind, status: Number(status), reason: `http_${status}` };
  if (kind === 'cut') return { kind, reason: 'body_truncated', body: bodyOf(page, name) };
  if (kind === 'lie') return { kind, reason: 'not_an_image' };
  return { kind: 'ok', reason: null, body: bodyOf(page, name) };
}

/** The names of the files of a page, and the host that has each: those that hang are on hosts of their own. */
export function urlsOf(page, port) {
  const hangs = fateOf(page, 'b').kind === 'hang';
  const host = (name) => (name === 'b' && hangs ? `127.0.1.${(page % 250) + 1}` : '127.0.0.1');
  const url = (name, extension) => `http://${host(name)}:${port}/f/${page}-${name}.${extension}`;
  return { file_urls: [url('a', 'pdf'), url('b', 'bin')], image_urls: [url('c', 'png')] };
}

export async function startFileSite(pages) {
  const asked = { pages: 0, files: 0 };
  const server = http.createServer((request, response) => {
    const page = Number(/^\/p(\d+)$/.exec(request.url)?.[1] ?? Number.NaN);
    if (page <= pages) {
      asked.pages += 1;
      const item = { page, ...urlsOf(page, server.address().port) };
      response.end(JSON.stringify({ item, next: page + CHAINS <= pages ? `/p${page + CHAINS}` : null }));
      return;
    }
    const [, of, name] = /^\/f\/(\d+)-([abc])\./.exec(request.url) ?? [];
    if (of === undefined) return void response.writeHead(404).end();
    asked.files += 1;
    answer(fateOf(Number(of), name), response);
  });
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  const count = Math.min(CHAINS, pages);
  const starts = Array.from({ length: count }, (_, n) => `http://127.0.0.1:${port}/p${n + 1}`);
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { port, starts, asked, close };
}

function answer({ kind, status, body }, response) {
  if (kind === 'ok') response.end(body);
  else if (kind === 'status') response.writeHead(status).end('no');
  else if (kind === 'lie') response.setHeader('content-type', 'image/png').end('<!DOCTYPE html><p>Log in');
  else if (kind === 'cut') {
    response.setHeader('content-length', body.length);
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }
  // What hangs is not answered.
}

/** 16 KB that follow from the name, so that part of a file, or another file, shows. */
function bodyOf(page, name) {
  const seed = createHash('sha256').update(`${page} ${name}`).digest();
  const noise = Buffer.alloc(16_384, seed);
  return name === 'c'
    ? png(noise)
    : Buffer.concat([Buffer.from(name === 'a' ? '%PDF-1.7\n' : 'data '), noise]);
}

function png(noise) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(64, 0);
  header.writeUInt32BE(64, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.concat(
    Array.from({ length: 64 }, (_, y) => Buffer.concat([Buffer.of(0), noise.subarray(y * 64, y * 64 + 64)])),
  );
  const chunk = (type, data) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

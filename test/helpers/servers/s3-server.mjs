/**
 * An S3-compatible server on 127.0.0.1 that checks signatures, with one bucket and one pair of keys, which can be down for a
 * while. The server writes an object in place, and a real one does not, so its writes go to another name first. It also
 * leaves out the slash after the bucket when it checks the signature of a listing, so listings are not checked.
 */
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';

export const keys = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
export const bucket = 'files';

/** @param directory of its own, where the objects are kept */
export async function startS3(directory) {
  let port = 0;
  let server;
  const requests = [];

  async function start() {
    const next = new S3rver({
      address: '127.0.0.1',
      port,
      directory,
      silent: true,
      configureBuckets: [{ name: bucket }],
    });
    next.middleware.unshift((context, following) => {
      const isListing = context.path === `/${bucket}/`;
      if (isListing) context.app = Object.create(context.app, { allowMismatchedSignatures: { value: true } });
      return following();
    });
    next.logger.silent = true;
    const { store } = next;
    const { putContent } = store;
    store.putContent = async function put(file, content) {
      const unfinished = `${file}.${requests.length}.part`;
      const written = await putContent.call(this, unfinished, content);
      renameSync(unfinished, file);
      return written;
    };
    ({ port } = await next.run());
    next.httpServer.on('request', ({ method, url, headers }) => requests.push({ method, url, headers }));
    server = next;
  }

  async function stop() {
    const closed = server.close();
    server.httpServer.closeAllConnections();
    await closed;
  }

  await start();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    /** What it was asked, in order. */
    requests,
    start,
    stop,
    /** Key → content, without what crawlnode writes at its start. */
    objects() {
      const root = path.join(directory, bucket);
      const found = readdirSync(root, { recursive: true }).filter((name) => name.endsWith('._S3rver_object'));
      return new Map(
        found
          .map((name) => [name.slice(0, -'._S3rver_object'.length), readFileSync(path.join(root, name))])
          .filter(([key]) => !key.includes('.crawlnode-write-test')),
      );
    },
  };
}

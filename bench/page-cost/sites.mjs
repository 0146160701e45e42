/** The sites a page's cost is measured on, each served by another process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startNginx } from '../../scripts/chaos/harness/nginx.mjs';

const docs = '/usr/share/doc/python3-doc/html';
const server = fileURLToPath(new URL('generated-site.mjs', import.meta.url));

/** Name → how to start it, in a folder for its files; a site counts the pages it has served since it was last asked. */
export const sites = {
  'small pages': () => generated({ pages: 2_000, links: 20, kilobytes: 4, hosts: 1 }),
  'link-heavy': () => generated({ pages: 2_000, links: 160, kilobytes: 16, hosts: 1 }),
  'many domains': () => generated({ pages: 2_000, links: 40, kilobytes: 8, hosts: 100 }),
  ...(existsSync(docs) && { 'python3-doc': pythonDocs }),
};

/** @returns its first URL, what its links begin with, the pages served since last asked, and how to stop it. */
export async function generated(shape) {
  const child = fork(server, [JSON.stringify(shape)]);
  const [{ url }] = await once(child, 'message');
  return {
    url,
    within: 'http://127.0.0.',
    async served() {
      child.send('count');
      const [{ served }] = await once(child, 'message');
      return served;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

async function pythonDocs(dir) {
  const site = await startNginx(docs, dir);
  return {
    url: `${site.url}index.html`,
    within: site.url,
    async served() {
      const { length } = await site.requests();
      await site.forget();
      return length;
    },
    stop: () => site.stop(),
  };
}

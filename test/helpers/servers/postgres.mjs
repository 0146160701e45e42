/** A PostgreSQL of one's own on loopback: Debian's package `postgresql`, or any other on the PATH. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { freePort, untilListening } from '../../../scripts/chaos/harness/ports.mjs';

/** Its cluster is in `dir`, which must not exist. @returns its URL and how to end it; null where there is no PostgreSQL. */
export async function startPostgres(dir) {
  const bin = binFolder();
  if (bin === null) return null;
  const user = unprivileged();
  mkdirSync(dir, { mode: 0o700 });
  if (user !== null) chownSync(dir, user.uid, user.gid);
  const how = { stdio: 'ignore', cwd: dir, ...user };
  const init = ['-D', path.join(dir, 'data'), '-U', 'crawl', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  execFileSync(path.join(bin, 'initdb'), init, how);
  const port = await freePort();
  const args = [
    '-D',
    path.join(dir, 'data'),
    '-p',
    String(port),
    '-k',
    dir,
    '-c',
    'listen_addresses=127.0.0.1',
  ];
  const server = spawn(path.join(bin, 'postgres'), args, how);
  await untilListening(port);
  return {
    url: `postgres://crawl@127.0.0.1:${port}/postgres`,
    async stop() {
      const ended = once(server, 'exit');
      // "Fast": it does not wait for clients.
      server.kill('SIGINT');
      await ended;
    },
  };
}

function binFolder() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => path.join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(path.delimiter),
  ];
  return (
    folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name)))) ??
    null
  );
}

/** PostgreSQL does not run as root: then the user that its package has made. */
function unprivileged() {
  if (process.getuid?.() !== 0) return null;
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

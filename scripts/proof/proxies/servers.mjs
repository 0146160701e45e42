/** tinyproxy, squid and microsocks on free ports of 127.0.0.1, each without and with a password. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, untilListening } from '../ports.mjs';

export const credentials = { username: 'crawler', password: 'hunter22-of-proofs' };

const kinds = {
  tinyproxy: { scheme: 'http', start: startTinyproxy },
  squid: { scheme: 'http', start: startSquid },
  microsocks: { scheme: 'socks5', start: startMicrosocks },
};

/** Folders where Debian puts servers, which are not always in PATH. */
const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];

/** @returns the path of a program; undefined where it is not installed. */
function find(program) {
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file));
}

/** The servers that are installed, and those that are not. */
export function proxyServers() {
  const names = Object.keys(kinds);
  const installed = names.filter((name) => find(name) !== undefined);
  const servers = installed.flatMap((name) => [false, true].map((hasPassword) => ({ name, hasPassword })));
  return { servers, missing: names.filter((name) => !installed.includes(name)) };
}

/**
 * Start one in the foreground, with its files in `dir`.
 * @returns its address, the same with other credentials, and how to end it.
 */
export async function startProxyServer({ name, hasPassword }, dir) {
  await mkdir(dir, { recursive: true });
  // squid gives up root, and must still read and write there.
  await chmod(path.dirname(dir), 0o755);
  await chmod(dir, 0o777);
  const port = await freePort();
  const { scheme, start } = kinds[name];
  const child = await start(find(name), port, dir, hasPassword);
  await untilListening(port);
  const urlWith = ({ username, password }) => `${scheme}://${username}:${password}@127.0.0.1:${port}`;
  return {
    url: hasPassword ? urlWith(credentials) : `${scheme}://127.0.0.1:${port}`,
    urlWith,
    urlWithout: `${scheme}://127.0.0.1:${port}`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function startTinyproxy(program, port, dir, hasPassword) {
  const file = path.join(dir, 'tinyproxy.conf');
  const { username, password } = credentials;
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'Timeout 60', 'MaxClients 200', `LogFile "${dir}/log"`];
  if (hasPassword) lines.push(`BasicAuth ${username} ${password}`);
  await writeFile(file, `${lines.join('\n')}\n`);
  return spawn(program, ['-d', '-c', file], { stdio: 'ignore' });
}

async function startSquid(program, port, dir, hasPassword) {
  const file = path.join(dir, 'squid.conf');
  const lines = [
    `http_port 127.0.0.1:${port}`,
    `pid_filename ${dir}/squid.pid`,
    `cache_log ${dir}/cache.log`,
    'access_log none',
    'cache deny all',
    `coredump_dir ${dir}`,
    'shutdown_lifetime 0 seconds',
  ];
  if (hasPassword) {
    const { username, password } = credentials;
    const hash = execFileSync('openssl', ['passwd', '-apr1', password]).toString().trim();
    await writeFile(path.join(dir, 'users'), `${username}:${hash}\n`);
    lines.push(
      `auth_param basic program /usr/lib/squid/basic_ncsa_auth ${dir}/users`,
      'acl known proxy_auth REQUIRED',
      'http_access allow known',
      'http_access deny all',
    );
  } else lines.push('http_access allow all');
  await writeFile(file, `${lines.join('\n')}\n`);
  return spawn(program, ['-N', '-f', file], { stdio: 'ignore' });
}

function startMicrosocks(program, port, _dir, hasPassword) {
  const { username, password } = credentials;
  const login = hasPassword ? ['-u', username, '-P', password] : [];
  return spawn(program, ['-i', '127.0.0.1', '-p', String(port), ...login], { stdio: 'ignore' });
}

/**
 * httpbin, a test server for HTTP clients that is no work of this project: Debian's package python3-httpbin. It is installed
 * where that needs no answer from anybody (root, with apt-get).
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { disown, own } from '../resources.js';

/** The Python of the distribution, which has its packages. */
const PYTHON = '/usr/bin/python3';
const INSTALL_MS = 60_000;

const serve = `
from werkzeug.serving import make_server
from httpbin import app
server = make_server('127.0.0.1', 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
`;

/** Why there is no httpbin here; null when there is one, perhaps since now. */
export function whyNoHttpbin(): string | null {
  if (hasHttpbin()) return null;
  const how = 'install it with "sudo apt-get install python3-httpbin"';
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || run('apt-get', ['--version']) !== null) {
    return `python3-httpbin is not installed, and cannot be without root and apt-get: ${how}`;
  }
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o', 'DPkg::Lock::Timeout=30'];
  const failure =
    run(env[0]!, [...env.slice(1), 'update']) ??
    run(env[0]!, [...env.slice(1), 'install', '-y', '--no-install-recommends', 'python3-httpbin']);
  return hasHttpbin()
    ? null
    : `python3-httpbin could not be installed (${failure ?? 'it does not load'}): ${how}`;
}

/** A running httpbin. */
export interface Httpbin {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  close(): Promise<void>;
}

export async function startHttpbin(): Promise<Httpbin> {
  const child = spawn(PYTHON, ['-c', serve], { stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  const resource = {
    name: 'httpbin',
    close: async () => {
      child.kill('SIGKILL');
      await closed;
      disown(resource);
    },
    abandon: () => void child.kill('SIGKILL'),
  };
  own(resource);
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { origin: `http://127.0.0.1:${Number(port)}`, close: resource.close };
}

function hasHttpbin(): boolean {
  return run(PYTHON, ['-c', 'import httpbin, werkzeug.serving']) === null;
}

/** @returns why it failed; null when it did not. */
function run(command: string, args: readonly string[]): string | null {
  const { status, error, stderr } = spawnSync(command, args, { timeout: INSTALL_MS, encoding: 'utf8' });
  if (status === 0) return null;
  return error?.message ?? (stderr.trim().split('\n').at(-1) || `${command} ended with ${status}`);
}

/** A real redis-server on a free port of 127.0.0.1, in a temporary folder, for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { disown, own, type Resource } from '../resources.js';
import { tempDir } from '../temp-dir.js';

/** How to start the server. */
export interface RedisOptions {
  /** More arguments for redis-server, such as `['--maxmemory', '50mb']`. */
  readonly args?: readonly string[];
  readonly password?: string;
  /** Keep an append-only file, fsynced at every write, so that `kill()` and `restart()` lose nothing. Default false. */
  readonly persist?: boolean;
  /** Run as a Sentinel with this configuration file. */
  readonly sentinel?: string;
  /** Beside the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running redis-server. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** `redis://[:password@]127.0.0.1:port`. */
  readonly url: string;
  readonly dir: string;
  /** Of the process that runs now. */
  pid(): number;
  /** End it in good order and remove its folder. */
  stop(): Promise<void>;
  /** SIGKILL; port and folder stay for `restart()`. */
  kill(): Promise<void>;
  /** Start again on the same port and folder, with other arguments if given. */
  restart(args?: readonly string[]): Promise<void>;
  /** SIGSTOP and SIGCONT: a server that hangs, and one that comes back. */
  pause(): void;
  resume(): void;
}

const host = '127.0.0.1';

/**
 * Start redis-server as found on PATH; no persistence unless asked. It ends with `stop()`, else after the test file.
 * @throws Error with the server's own output when it does not come up.
 */
export async function startRedis({
  args = [],
  password,
  persist = false,
  sentinel,
  env = {},
}: RedisOptions = {}): Promise<RedisServer> {
  const folder = tempDir('redis');
  const persistence = persist ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  const base =
    sentinel === undefined
      ? ['--bind', host, '--dir', folder.dir, '--save', '', ...persistence]
      : [sentinel, '--sentinel', '--bind', host, '--dir', folder.dir];
  if (password !== undefined) base.push('--requirepass', password);

  let child: ChildProcess;
  let port = 0;
  for (let attempt = 1; ; attempt += 1) {
    port = await freePort();
    try {
      child = await launch([...base, '--port', String(port), ...args], env);
      break;
    } catch (error) {
      // Somebody took the port between our look and the server's bind.
      if (attempt < 5 && String(error).includes('Address already in use')) continue;
      await folder.remove();
      throw error;
    }
  }

  const resource: Resource = {
    name: `redis-server on port ${port}`,
    close: async () => {
      child.kill('SIGCONT');
      await end(child, 'SIGTERM');
      await folder.remove();
      disown(resource);
    },
    abandon: () => child.kill('SIGKILL'),
  };
  own(resource);
  return {
    host,
    port,
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}${host}:${port}`,
    dir: folder.dir,
    pid: () => child.pid!,
    stop: () => resource.close(),
    kill: () => end(child, 'SIGKILL'),
    restart: async (newArgs = args) => {
      await end(child, 'SIGTERM');
      child = await launch([...base, '--port', String(port), ...newArgs], env);
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when the server takes commands. */
async function launch(args: readonly string[], env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn('redis-server', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (/Ready to accept connections|Sentinel ID is|now ready to accept connections/.test(output))
        resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', (error) =>
      reject(new Error('redis-server does not start; is it on PATH?', { cause: error })),
    );
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${output}`)));
  });
  child.stdout.removeAllListeners('data').resume();
  child.stderr.removeAllListeners('data').resume();
  return child;
}

/** SIGTERM is followed by SIGKILL after five seconds. */
async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const force = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(force);
}

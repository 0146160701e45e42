/**
 * A password that the server does not ask for: ioredis goes on without, and tells the console so with each connection,
 * amid a log of JSON. Here it is noted instead, for whoever wants to say it once.
 */
import type { Cluster, Redis } from 'ioredis';

type Told = (error: Error | null, reply?: unknown) => void;
type Auth = (...args: unknown[]) => unknown;

const needless = /no password is set|without any password configured for the default user/;
const unasked = new WeakSet<object>();
const listening = new WeakSet<object>();

/**
 * Have all clients of this class note it. Of the class, since those that a Cluster makes for its nodes and for itself
 * cannot be reached otherwise.
 */
export function noteNeedlessPasswords(clientClass: typeof Redis): void {
  const prototype = clientClass.prototype as unknown as { auth: Auth };
  if (listening.has(prototype)) return;
  listening.add(prototype);
  const { auth } = prototype;
  prototype.auth = function (this: object, ...args) {
    const told = args.at(-1);
    if (typeof told !== 'function') return auth.apply(this, args);
    return auth.call(this, ...args.slice(0, -1), (error: Error | null, reply: unknown) => {
      const isNeedless = error !== null && needless.test(error.message);
      if (isNeedless) unasked.add(this);
      (told as Told)(isNeedless ? null : error, reply);
    });
  };
}

/** What to tell the user of it; nothing where the password was asked for. */
export function needlessPasswordNotice(client: Redis | Cluster): string[] {
  const clients = 'nodes' in client ? client.nodes() : [client];
  return clients.some((each) => unasked.has(each))
    ? [
        'this Redis asks for no password, so whoever reaches it may read and write; the one in the settings goes unused',
      ]
    : [];
}

/** Reads the reply of a lease call, and the tokens of leases. */
import type { Lease, LeaseAnswer } from '../../frontier.js';
import { hex, json, list, type Reply, text } from '../connection/reply.js';
import { readCookieNews } from '../cookies/cookie-reply.js';

/** The number of the call that granted a lease, from its token. An invalid token gives 0, which is no call's number. */
export function leaseCallOf({ id, token }: Pick<Lease, 'id' | 'token'>): number {
  const call = /^(\d{1,14})\./.exec(token)?.[1] ?? '0';
  return token === `${call}.${id}` ? Number(call) : 0;
}

/** The JSON of a reply of `lua/leases/lease.lua`; beside it are the ids and the records. */
interface Leased extends Pick<LeaseAnswer, 'waitMs' | 'crawl'> {
  readonly call: number;
  readonly leases: readonly Pick<Lease, 'domain' | 'delayMs' | 'crashes'>[];
}

export function readLeases(reply: Reply): LeaseAnswer {
  const [state, ids, records, changed] = list(reply);
  const { call, leases, waitMs, crawl } = json<Leased>(state);
  const cookies = readCookieNews(changed);
  return {
    leases: list(ids).map((raw, n): Lease => {
      const id = hex(raw);
      return { id, token: `${call}.${id}`, record: text(list(records)[n]), ...leases[n]! };
    }),
    ...{ waitMs, crawl },
    ...(cookies !== null && { cookies }),
  };
}

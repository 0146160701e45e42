/** Leases on their way: their tokens, and how a lease call is answered. */
import type { Lease } from '../frontier.js';
import { hex, int, type Reply, text } from './reply.js';

const ID_DIGITS = 40;

/** The number of the call that gave a lease, by its token: 0, which no call has, for one that none can have given. */
export function givenBy({ id, token }: Pick<Lease, 'id' | 'token'>): number {
  const call = /^(\d{1,14})\./.exec(token)?.[1] ?? '0';
  return token === `${call}.${id}` ? Number(call) : 0;
}

/** @param reply of `lua/lease.lua`. */
export function readLeases([call, ids, domains, records, delays, crashes]: readonly Reply[]): Lease[] {
  const digits = hex(ids);
  return (records as readonly Reply[]).map((record, n) => {
    const id = digits.slice(n * ID_DIGITS, (n + 1) * ID_DIGITS);
    return {
      id,
      token: `${text(call)}.${id}`,
      domain: text((domains as readonly Reply[])[n]),
      delayMs: int((delays as readonly Reply[])[n]),
      crashes: int(crashes),
      record: text(record),
    };
  });
}

/** Reads the reply of a lease call, and the tokens of leases. */
import type { Control, Lease, LeaseAnswer } from '../../frontier.js';
import { hex, int, list, named, type Reply, text } from '../connection/reply.js';
import { readCookieNews } from '../cookies/cookie-reply.js';

/** The number of the call that granted a lease, from its token. An invalid token gives 0, which is no call's number. */
export function leaseCallOf({ id, token }: Pick<Lease, 'id' | 'token'>): number {
  const call = /^(\d{1,14})\./.exec(token)?.[1] ?? '0';
  return token === `${call}.${id}` ? Number(call) : 0;
}

/** @param reply of `lua/leases/lease.lua`. */
export function readLeases(reply: Reply): LeaseAnswer {
  const answer = named(reply);
  const cookies = readCookieNews(answer.cookies);
  const [domains, records, delays] = [list(answer.domains), list(answer.records), list(answer.delays)];
  const leases = list(answer.ids).map((raw, n): Lease => {
    const id = hex(raw);
    return {
      id,
      token: `${int(answer.call)}.${id}`,
      domain: text(domains[n]),
      delayMs: int(delays[n]),
      crashes: int(answer.crashes),
      record: text(records[n]),
    };
  });
  return {
    leases,
    waitMs: int(answer.waitMs),
    crawl: {
      control: text(answer.control) as Control,
      finished: int(answer.finished) === 1,
      idleDue: int(answer.idleDue) === 1,
      acceptedInRun: int(answer.acceptedInRun),
      closing: text(answer.closing) || null,
      seedsWaiting: int(answer.seedsWaiting),
      idleMs: int(answer.idleMs),
      full: int(answer.full) === 1,
      lost: int(answer.lost),
    },
    ...(cookies !== null && { cookies }),
  };
}

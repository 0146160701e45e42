/** How requests travel to the verbs: as columns by name, see `lua/requests/acceptance.lua`. */
import { priorityInBounds } from '../../http/message/priority.js';
import { bloomSizing } from '../bloom-sizing.js';
import { delayInBounds, requireIds } from '../clamp-values.js';
import type { Dupefilter, FrontierRequest } from '../frontier.js';
import { dupefilterText } from '../shared-settings/shape-differences.js';
import type { Arguments } from './connection/lua-message.js';

/** Requests in order, a list for each of their parts. */
export interface RequestColumns extends Arguments {
  readonly ids: readonly Buffer[];
  readonly marks: readonly (Buffer | string)[];
  readonly priorities: readonly number[];
  readonly domains: readonly string[];
  readonly records: readonly string[];
  /** Absent where all pass the dupefilter. */
  readonly unfiltered?: readonly number[];
  /** Absent where none carries an item. */
  readonly carriers?: readonly number[];
  /** Absent where none is delayed; ms. */
  readonly delays?: readonly number[];
}

/** @throws InvalidRequestError for an id that is not 40 hex digits. */
export function columnsOf(requests: readonly FrontierRequest[], dupefilter: Dupefilter): RequestColumns {
  requireIds(requests);
  const ids = requests.map(({ id }) => Buffer.from(id, 'hex'));
  const marks = requests.map(({ id, fingerprint }, n) =>
    id === fingerprint ? markOf(fingerprint, dupefilter, ids[n]) : markOf(fingerprint, dupefilter),
  );
  const delays = requests.map(({ delayMs }) => delayInBounds(delayMs));
  return {
    ids,
    marks,
    priorities: requests.map(({ priority }) => priorityInBounds(priority)),
    domains: requests.map(({ domain }) => domainName(domain)),
    records: requests.map(({ record }) => record),
    ...(requests.some(({ unfiltered }) => unfiltered) && {
      unfiltered: requests.map(({ unfiltered }) => (unfiltered ? 1 : 0)),
    }),
    ...(requests.some(({ carriesItem }) => carriesItem) && {
      carriers: requests.map(({ carriesItem }) => (carriesItem ? 1 : 0)),
    }),
    ...(delays.some((delay) => delay > 0) && { delays }),
  };
}

/** A fingerprint as its class stores it. @param raw the same as 20 bytes, where they are there already. */
export function markOf(fingerprint: string, dupefilter: Dupefilter, raw?: Buffer): Buffer | string {
  switch (dupefilter.class) {
    case 'RFPDupeFilter':
      return fingerprint;
    case 'CompactDupeFilter':
      return BigInt.asIntN(64, BigInt(`0x${fingerprint.slice(0, 16)}`)).toString();
    default:
      return raw ?? Buffer.from(fingerprint, 'hex');
  }
}

/** A name as the store keeps it: without NUL, which ends it in a member of the queue, and as UTF-8 has it. */
export function domainName(name: string): string {
  return name.includes('\0') ? Buffer.from(name.replaceAll('\0', '\u{fffd}')).toString() : name;
}

const described = new WeakMap<Dupefilter, Arguments>();

/** A dupefilter as the verbs take it, see `lua/dupefilters/dupefilters.lua`. */
export function dupefilterArgument(dupefilter: Dupefilter): Arguments {
  let argument = described.get(dupefilter);
  if (argument === undefined) {
    const sizing = dupefilter.class === 'BloomDupeFilter' ? bloomSizing(dupefilter) : {};
    argument = { ...dupefilter, ...sizing, text: dupefilterText(dupefilter) };
    described.set(dupefilter, argument);
  }
  return argument;
}

/** How requests travel to the verbs: as columns by name, see `lua/requests/acceptance.lua`. */
import { priorityInBounds } from '../../http/message/priority.js';
import { delayInBounds, requireIds } from '../clamp-values.js';
import { classOf } from '../dupefilter-classes.js';
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
  readonly dontFilter?: readonly number[];
  /** Absent where none carries an item. */
  readonly carriers?: readonly number[];
  /** Absent where none is delayed; ms. */
  readonly delays?: readonly number[];
}

/** @throws InvalidRequestError for an id that is not 40 hex digits. */
export function columnsOf(requests: readonly FrontierRequest[], dupefilter: Dupefilter): RequestColumns {
  requireIds(requests);
  const ids = requests.map(({ id }) => Buffer.from(id, 'hex'));
  const { markOf } = classOf(dupefilter);
  const marks = requests.map(({ id, fingerprint }, n) =>
    id === fingerprint ? markOf(fingerprint, ids[n]) : markOf(fingerprint),
  );
  const delays = requests.map(({ delayMs }) => delayInBounds(delayMs));
  return {
    ids,
    marks,
    priorities: requests.map(({ priority }) => priorityInBounds(priority)),
    domains: requests.map(({ domain }) => domainName(domain)),
    records: requests.map(({ record }) => record),
    ...(requests.some(({ dontFilter }) => dontFilter) && {
      dontFilter: requests.map(({ dontFilter }) => (dontFilter ? 1 : 0)),
    }),
    ...(requests.some(({ carriesItem }) => carriesItem) && {
      carriers: requests.map(({ carriesItem }) => (carriesItem ? 1 : 0)),
    }),
    ...(delays.some((delay) => delay > 0) && { delays }),
  };
}

/** A name as the store keeps it: without NUL, which ends it in a member of the queue, and as UTF-8 has it. */
export function domainName(name: string): string {
  return name.includes('\0') ? Buffer.from(name.replaceAll('\0', '\u{fffd}')).toString() : name;
}

/** The type of the dupefilter's own key; `none` where it is made of many keys. */
export function mainKeyType(dupefilter: Dupefilter): string {
  const { redisLayout } = classOf(dupefilter);
  return redisLayout.startsWith('pieces') ? 'none' : redisLayout;
}

const described = new WeakMap<Dupefilter, Arguments>();

/** A dupefilter as the verbs take it, see `lua/dupefilters/dupefilters.lua`. */
export function dupefilterArgument(dupefilter: Dupefilter): Arguments {
  let argument = described.get(dupefilter);
  if (argument === undefined) {
    const more = classOf(dupefilter).luaArguments?.(dupefilter);
    argument = { ...dupefilter, ...more, text: dupefilterText(dupefilter), type: mainKeyType(dupefilter) };
    described.set(dupefilter, argument);
  }
  return argument;
}

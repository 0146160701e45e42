/** What a crawl in Redis offers to verify and repair (`care/`); its verbs are in `lua/care/`. */
import { howMany } from '../../../format-amounts.js';
import {
  BROKEN_RESTORE_LOSS,
  type CareStore,
  CRAWL_RECORD_LOSS,
  type DomainView,
  type Examined,
  type FeedView,
  feedLosses,
  type NodeView,
  type Rebuilt,
  type Totals,
} from '../../care/care-store.js';
import { nodesAtWork } from '../../refusals.js';
import { int, json, list, named, text } from '../connection/reply.js';
import { pairs } from '../connection/scan.js';
import { FIRST_RECORDS, type Step, steps } from '../crawl/steps.js';
import type { CrawlAccess } from '../crawl-access.js';
import { newEpoch } from '../nodes/join.js';
import { domainName } from '../request-columns.js';

/** The words of the queues, in the order in which they are walked, and of the other keys. */
const queues = { delayed: 'delayed', suspects: 'pending', queue: 'pending' } as const;
const others = ['leases', 'feeds', 'meta', 'domains', 'ready', 'waiting', 'robots-kept', 'pieces'];
/** A domain is compared with its queue, which takes several times as long as any other entry. */
const DOMAINS = 100;
const ID_BYTES = 20;
const unreadable = JSON.stringify({
  reason: 'bad_record',
  attempts: 0,
  detail: 'its record could not be read when the crawl was repaired',
});

export function redisCare(crawl: CrawlAccess): CareStore {
  const { call } = crawl;
  const { keys, shape } = crawl.options;
  return {
    unexaminable: async () => null,
    async counts() {
      for await (const step of steps(call, 'examine', { place: 'meta', counted: true }))
        return examined(step);
      return {};
    },
    async *records() {
      for await (const step of steps(call, 'examine', { place: 'requests' }, FIRST_RECORDS)) {
        const waiting = new Set((list(step.ids) as Buffer[]).map(textOfBytes));
        // A field that is not an id was added by hand.
        const rows = pairs(list(step.records) as Buffer[]).filter(([id]) => id.length === ID_BYTES);
        yield rows.map(([id, stored]) => ({
          id,
          record: recordIn(stored),
          isWaiting: waiting.has(textOfBytes(id)),
        }));
      }
    },
    async *entries() {
      for (const [place, state] of Object.entries(queues)) {
        for await (const step of steps(call, 'examine', { place }))
          yield { ...examined(step), entries: { ids: list(step.ids) as Buffer[], state } };
      }
    },
    async *examine() {
      for (const place of others) {
        const count = place === 'domains' ? DOMAINS : undefined;
        for await (const step of steps(call, 'examine', { place }, count)) yield examined(step);
      }
    },
    async unexplained(suspects) {
      const { waiting } = named(await call('examine', { ids: suspects.map(({ id }) => id as Buffer) }));
      return (list(waiting) as Buffer[]).map((id) => ({ id }));
    },

    async beginRepair(force) {
      const args = { force, queueClass: shape.queueClass, epoch: newEpoch() };
      const [live, isNew, isRestore] = list(await call('repair_begin', args)).map(int);
      if (live! > 0) throw nodesAtWork(live!, 'repair');
      return [...(isNew === 1 ? [CRAWL_RECORD_LOSS] : []), ...(isRestore === 1 ? [BROKEN_RESTORE_LOSS] : [])];
    },
    async beginRebuild() {
      const args = { live: true, queueClass: shape.queueClass, epoch: newEpoch() };
      return int(list(await call('repair_begin', args))[0]) === 0;
    },
    async put(batch) {
      const requests = batch.map(({ stored: { id }, request }) =>
        request === null
          ? { id: id as Buffer }
          : { id: id as Buffer, domain: domainName(request.domain), priority: request.priority },
      );
      await call('repair_put', { requests, unreadable });
    },
    async endRepair() {
      let ofPieces = 0;
      for await (const step of steps(call, 'repair_pieces', { place: 'pieces' })) ofPieces += int(step.gone);
      const { feeds, gone: others, cameBack, ...counts } = json<Ended>(await call('repair_end', {}));
      const gone = ofPieces + others;
      const losses = Object.values(feeds).flatMap(({ said = null, ...feed }) =>
        feedLosses({ ...feed, said }),
      );
      if (gone > 0) losses.unshift(`${keys.dupefilter}: ${gone} fingerprints`);
      if (cameBack > 0) losses.unshift(cameBackLoss(keys.requests, cameBack));
      return { ...counts, losses };
    },
  };
}

/** The answer of `repair_end`. */
interface Ended extends Pick<Rebuilt, 'pending' | 'delayed' | 'failed'> {
  readonly gone: number;
  readonly cameBack: number;
  readonly feeds: Readonly<Record<string, Omit<FeedView, 'said'> & { readonly said?: number }>>;
}

const cameBackLoss = (key: string, count: number): string =>
  `what ${key} held before somebody put it back; ${howMany(count, 'request')} of it may be done, and are fetched again`;

const textOfBytes = (bytes: Buffer): string => bytes.toString('latin1');

/** The JSON of a stored record: what follows its NUL is not part of it (`lua/queue/stored-record.lua`). */
function recordIn(stored: Buffer): string {
  const end = stored.indexOf(0);
  return stored.toString('utf8', 0, end < 0 ? stored.length : end);
}

function examined(step: Step): Examined {
  return {
    odd: pairs(list(step.odd) as Buffer[]).map(([id, states]) => {
      const all = text(states).split(' ');
      return { id, states: all.filter((state) => state !== 'record'), hasRecord: all.includes('record') };
    }),
    domains: listed<DomainView>(step.views),
    nodes: listed<NodeView>(step.nodes),
    feeds: listed<FeedView>(step.feeds).map(({ said = null, ...feed }) => ({ ...feed, said })),
    ...(step.totals !== undefined && { totals: json<Totals>(step.totals) }),
    breaches: list(step.breaches).map(text),
  };
}

/** A list in JSON. Lua writes an empty one as `{}`. */
function listed<T>(reply: Step[string]): T[] {
  return reply === undefined ? [] : Object.values(json<Record<string, T>>(reply));
}

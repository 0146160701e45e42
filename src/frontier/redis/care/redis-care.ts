/** What a crawl in Redis offers to verify and repair (`care/`); its verbs are in `lua/care/`. */
import type { CareStore, DomainView, Examined, NodeView, Totals } from '../../care/care-store.js';
import { nodesAtWork } from '../../refusals.js';
import { int, json, list, named, text } from '../connection/reply.js';
import { pairs, walk } from '../connection/scan.js';
import { checkCookies } from '../cookies/verify-cookies.js';
import type { CrawlAccess } from '../crawl-access.js';
import { newEpoch } from '../nodes/join.js';
import { FIRST_RECORDS, type Step, steps } from '../read/steps.js';
import { domainName } from '../request-columns.js';
import { checkPieces, repairPieces } from './dupefilter-pieces.js';
import { misplaced } from './second-look.js';

/** The words of keys that are walked, in order. */
const places = [
  'delayed',
  'suspects',
  'queue',
  'leases',
  'meta',
  'domains',
  'ready',
  'waiting',
  'robots-kept',
];
const waitingPlaces: readonly string[] = places.slice(0, 3);
/** A domain is compared with its queue, which takes several times as long as any other entry. */
const DOMAINS = 100;
/** Records of one step: a call of some ms. */
const STEP = 500;
const ID_BYTES = 20;
const unreadable = JSON.stringify({
  reason: 'bad_record',
  attempts: 0,
  detail: 'its record could not be read when the crawl was repaired',
});

export function redisCare(crawl: CrawlAccess): CareStore {
  const { connection, call } = crawl;
  const { keys, shape } = crawl.options;
  const ask: typeof connection.patiently = (question) => connection.patiently(question);
  return {
    unexaminable: async () => null,
    async *waitingIds() {
      for await (const { ids } of steps(call, 'examine', { place: 'requests' }, FIRST_RECORDS))
        yield list(ids) as Buffer[];
    },
    async *examine() {
      for (const place of places) {
        const count = place === 'domains' ? DOMAINS : undefined;
        for await (const step of steps(call, 'examine', { place }, count)) yield examined(place, step);
      }
    },
    async unexplained(ids) {
      const { waiting } = named(await call('examine', { ids: ids as readonly Buffer[] }));
      return list(waiting) as Buffer[];
    },
    misplaced: (ids) => misplaced(crawl, ids as readonly Buffer[]),
    sides: [
      {
        check: () => ask((client) => checkPieces(client, keys)),
        mend: () => ask((client) => repairPieces(client, keys)),
      },
      {
        check: () => checkCookies(crawl),
        mend: async () => void (await call('mend_cookies', {})),
      },
    ],

    async beginRepair(force) {
      const args = { force, queueClass: shape.queueClass, epoch: newEpoch() };
      const live = int(await call('repair_begin', args));
      if (live > 0) throw nodesAtWork(live, 'repair');
    },
    beginRebuild: async () =>
      int(await call('repair_begin', { live: true, queueClass: shape.queueClass, epoch: newEpoch() })) === 0,
    async *records() {
      const pages = walk(ask, (client, cursor) => client.hscanBuffer(keys.requests, cursor, 'COUNT', STEP));
      for await (const page of pages) {
        // A field that is not an id was added by hand.
        const rows = pairs(page).filter(([id]) => id.length === ID_BYTES);
        yield rows.map(([id, stored]) => ({ id, record: recordIn(stored) }));
      }
    },
    async put(batch) {
      const requests = batch.map(({ stored: { id }, request }) =>
        request === null
          ? { id: id as Buffer }
          : { id: id as Buffer, domain: domainName(request.domain), priority: request.priority },
      );
      await call('repair_put', { requests, unreadable });
    },
    endRepair: async () => json(await call('repair_end', {})),
  };
}

/** The JSON of a stored record: what follows its NUL is not part of it (`lua/queue/stored-record.lua`). */
function recordIn(stored: Buffer): string {
  const end = stored.indexOf(0);
  return stored.toString('utf8', 0, end < 0 ? stored.length : end);
}

function examined(place: string, step: Step): Examined {
  const odd = pairs(list(step.odd) as Buffer[]).map(([id, states]) => {
    const all = text(states).split(' ');
    return { id, states: all.filter((state) => state !== 'record'), hasRecord: all.includes('record') };
  });
  const ids = waitingPlaces.includes(place) ? (list(step.ids) as Buffer[]) : [];
  return {
    entries: { ids, odd },
    domains: listed<DomainView>(step.views),
    nodes: listed<NodeView>(step.nodes),
    ...(step.totals !== undefined && { totals: json<Totals>(step.totals) }),
    breaches: list(step.breaches).map(text),
  };
}

/** A list in JSON. Lua writes an empty one as `{}`. */
function listed<T>(reply: Step[string]): T[] {
  return reply === undefined ? [] : Object.values(json<Record<string, T>>(reply));
}

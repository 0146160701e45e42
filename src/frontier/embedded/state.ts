/** The counters of a crawl: read once and written once per transaction, as a row of doubles. */

const fields = [
  'queued',
  'suspects',
  'delayed',
  'leased',
  'accepted',
  'done',
  'failed',
  'removed',
  'domains',
  'readyDomains',
  'waitingDomains',
  'idleDomains',
  'bytes',
  'lastArrival',
  'tokens',
  'failedSequence',
  'failedRecords',
  'alive',
  'volunteer',
  'runPages',
  'runAccepted',
  'busyAtMs',
  'hungry',
  'hungryAtMs',
  'metaVersion',
  'runItems',
  'runErrors',
  'numbers',
] as const;

type Field = (typeof fields)[number];

/**
 * `queued` are pending in domain queues, `suspects` pending apart; `readyDomains`, `waitingDomains` and `idleDomains`
 * how many stand in those indexes, so that an empty one is not searched; `bytes` the sizes of live requests; `alive` the
 * incarnations not dead; `volunteer` the incarnation that takes the next suspect, 0 for none; `busyAtMs` when
 * something was last pending, delayed or leased; `hungry` the incarnation that got nothing last (`sharing.ts`);
 * `metaVersion` changes with every write of the meta text; `numbers` is the last one given to a request.
 */
export type State = { [field in Field]: number };

/** A crawl with nothing in it. */
export function emptyState(): State {
  return Object.fromEntries(fields.map((field) => [field, 0])) as State;
}

/** To bytes. */
export function encodeState(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(fields.length * 8);
  for (let n = 0; n < fields.length; n += 1) bytes.writeDoubleLE(state[fields[n] as Field], n * 8);
  return bytes;
}

/** From bytes. */
export function decodeState(bytes: Buffer): State {
  const state = {} as State;
  for (let n = 0; n < fields.length; n += 1) {
    state[fields[n] as Field] = n * 8 < bytes.length ? bytes.readDoubleLE(n * 8) : 0;
  }
  return state;
}

/** What is left to do, leased or not. */
export function openWork(state: State): number {
  return state.queued + state.suspects + state.delayed + state.leased;
}

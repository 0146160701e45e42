/** The state of one request of a crawl in Redis. Reads only. */
import { classOf } from '../../dupefilter-classes.js';
import type { FrontierRequest, Inspection, RequestLife } from '../../frontier.js';
import { dupefilterText } from '../../shared-settings/shape-differences.js';
import { int, list, named, type Reply, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { readFailure } from '../failed/failed-list.js';
import { allKeys } from '../keys.js';
import { dupefilterArgument } from '../request-columns.js';
import { agreedDupefilter, states } from './dupefilter.js';

export async function inspectRequest(crawl: CrawlAccess, request: FrontierRequest): Promise<Inspection> {
  const { id, domain, fingerprint, dontFilter } = request;
  const found = await ask(crawl, { id, domain, fingerprint });
  const [leasedAtMs, failedAtUs] = [found.leasedAtMs ?? null, found.failedAtUs ?? null];
  const record = found.record == null ? null : text(found.record);
  const isWaiting = record !== null && leasedAtMs === null && failedAtUs === null;
  const delayedUntilMs = isWaiting && found.dueAtMs != null ? int(found.dueAtMs) : null;
  const opensAtMs = isWaiting && found.opensAtMs != null ? int(found.opensAtMs) : null;
  const seen = int(found.seen) === 1;
  const waits = delayedUntilMs === null ? 'pending' : 'delayed';
  const ended = failedAtUs !== null ? 'failed' : seen ? 'seen' : 'unknown';
  return {
    state: leasedAtMs !== null ? 'leased' : isWaiting ? waits : ended,
    seen,
    record,
    crashes: int(found.crashes),
    owner: leasedAtMs === null ? null : text(found.node),
    leasedAtMs: leasedAtMs === null ? null : int(leasedAtMs),
    dueAtMs: delayedUntilMs ?? opensAtMs,
    failure:
      failedAtUs === null ? null : readFailure(text(found.failure), Math.floor(int(failedAtUs) / 1000)),
    life: dontFilter ? null : readLife(found.life),
  };
}

/** The dupefilter is asked by the crawl's own class, since a client that only reads may have other settings. */
async function ask(
  { connection, options: { keys }, dupefilter }: CrawlAccess,
  { id, domain, fingerprint }: Pick<FrontierRequest, 'id' | 'domain' | 'fingerprint'>,
): Promise<ReturnType<typeof named>> {
  const ours = dupefilter();
  const agreed = await connection.patiently((client) => agreedDupefilter(client, keys));
  const theirs = agreed === null || dupefilterText(agreed) === dupefilterText(ours) ? ours : agreed;
  const args = {
    ...{ id: Buffer.from(id, 'hex'), fingerprint: Buffer.from(fingerprint, 'hex'), domain },
    ...{ mark: classOf(theirs).markOf(fingerprint), dupefilter: dupefilterArgument(theirs) },
  };
  return named((await connection.call('inspect', allKeys(keys), args)).reply);
}

function readLife(reply: Reply | undefined): RequestLife | null {
  const [letter, atMs, status, attempts] = list(reply);
  const state = states[text(letter)];
  if (state === undefined) return null;
  return { state, atMs: int(atMs), status: int(status) || null, attempts: int(attempts) };
}

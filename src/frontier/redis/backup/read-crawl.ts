/** Reads the crawl and its live requests, in all states, for a backup. */
import { type BackupEntry, type BackupRequest, inEntries } from '../../backup/entry.js';
import type { Shape } from '../../frontier.js';
import type { Call } from '../connection/calls.js';
import { hex, int, list, type Reply, text } from '../connection/reply.js';
import type { Ask } from '../connection/scan.js';
import { FIRST_RECORDS, steps } from '../crawl/steps.js';
import { storedShape } from '../crawl/stored-json.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';

/** The crawl as a whole, then its requests. No entry where there is no crawl. */
export async function* readCrawl({ options, call }: CrawlAccess, ask: Ask): AsyncIterable<BackupEntry> {
  const meta = await ask((client) => client.hgetall(internalKey(options.keys, 'meta')));
  if (meta.version === undefined) return;
  yield {
    kind: 'crawl',
    queueClass: meta.queue as Shape['queueClass'],
    shape: storedShape(meta.shape),
    start: startOf(meta.start),
    ...startsOf(meta),
    done: Number(meta.done ?? 0),
    removed: Number(meta.removed ?? 0),
    lost: Number(meta.lost ?? 0),
    beganAtMs: Number(meta.began) || null,
    seenSinceMs: Number(meta.seen_since ?? meta.began) || null,
  };
  const size = ({ record }: BackupRequest): number => record.length + 200;
  for await (const values of inEntries(readRequests(call), size)) yield { kind: 'requests', values };
}

/** The leases come first, so that a request that is released meanwhile is not missed. */
async function* readRequests(call: Call): AsyncIterable<BackupRequest[]> {
  for (const place of ['leases', 'queue', 'suspects', 'delayed']) {
    for await (const { requests } of steps(call, 'read_requests', { place }, FIRST_RECORDS)) {
      yield list(requests).map(readRequest);
    }
  }
}

/** A delayed request has a priority but no arrival yet. */
function readRequest(reply: Reply): BackupRequest {
  const [id, domain, priority, arrival, dueAtMs, crashes, record] = list(reply);
  return {
    ...{ id: hex(id), domain: text(domain), priority: int(priority) },
    ...(dueAtMs == null ? { arrival: int(arrival) } : { dueAtMs: int(dueAtMs) }),
    ...(int(crashes) > 0 && { crashes: int(crashes) }),
    record: text(record),
  };
}

function startOf(text: string | undefined): number | 'pushed' {
  return text === 'pushed' ? 'pushed' : Number(text || 0);
}

/** The start requests pushed under each set of arguments. */
function startsOf(meta: Readonly<Record<string, string>>): { starts?: Record<string, number | 'pushed'> } {
  const fields = Object.entries(meta).filter(([name]) => name.startsWith('start:'));
  if (fields.length === 0) return {};
  return {
    starts: Object.fromEntries(fields.map(([name, text]) => [name.slice('start:'.length), startOf(text)])),
  };
}

/** What nodes report: their own state, what they have done of each domain, and the points of the history. */
import { addCounts, type MutableCounts } from '../../telemetry/domain-counts.js';
import { historySteps, pointText } from '../../telemetry/stored-telemetry.js';
import { HISTORY_POINTS, HISTORY_STEP_MS, MAX_DOMAIN_COUNTS, MAX_KNOWN_DOMAINS } from '../../types/limits.js';
import type {
  Assessment,
  DomainCounts,
  HistoryPoint,
  HistoryStep,
  NodeReport,
} from '../../types/telemetry.js';
import type { Transaction } from '../base/transaction.js';
import { plainText } from '../file/statements.js';
import { incarnationNumber } from '../nodes/node-row.js';
import { addEvent } from './events.js';
import { deleteText, numberOf, setText, textOf } from './texts.js';

/** @returns whether a point of the history is due */
export function report(
  tx: Transaction,
  incarnation: string,
  { sequence, node, domains, events }: NodeReport,
): boolean {
  const reporter = tx.hasCrawl ? tx.nodes.findAlive(incarnationNumber(incarnation)) : null;
  if (reporter === null) return false;
  const name = `node:${incarnation}`;
  if (sequence <= Number.parseInt(textOf(tx, name) ?? '0', 10)) return false;
  setText(tx, name, `${sequence} ${JSON.stringify(node)}`);
  for (const [domain, counts] of domains) addDomain(tx, plainText(domain), counts);
  forgetOldest(tx);
  for (const { kind, agoMs } of events) addEvent(tx, { kind, node: reporter.id }, agoMs);
  const step = Math.floor(tx.wallMs / HISTORY_STEP_MS);
  if (numberOf(tx, 'claimed') === step) return false;
  setText(tx, 'claimed', String(step));
  return true;
}

/** Keep a point of the history. Of two nodes that record the same step, the first one counts. */
export function record(
  tx: Transaction,
  point: HistoryPoint,
  assessment: Assessment,
  minutes: number,
  storedBytes = 0,
): void {
  if (!tx.hasCrawl) return;
  tx.tally.stored_bytes = storedBytes;
  keep(tx, 'ten_seconds', HISTORY_POINTS, point);
  keep(tx, 'minute', minutes, point);
  setText(tx, 'assessment', JSON.stringify(assessment));
  const told = numberOf(tx, 'lost');
  const { lost } = tx.tally;
  if (lost > told) addEvent(tx, { kind: 'requests_lost', requests: lost - told });
  if (lost !== told) setText(tx, 'lost', String(lost));
}

/** The counts of a domain; none where nothing was reported of it. */
export function countsOf({ sql, spaces }: Transaction, domain: string): DomainCounts {
  const row = sql.get<{ counts: string }>`
    SELECT counts FROM domain_stats WHERE space = ${spaces.telemetry.id} AND domain = ${domain}`;
  try {
    return JSON.parse(row?.counts ?? '{}') as DomainCounts;
  } catch {
    // Somebody else has written it.
    return {};
  }
}

function addDomain(tx: Transaction, domain: string, counts: DomainCounts): void {
  const known: MutableCounts = { ...countsOf(tx, domain) };
  const room = MAX_DOMAIN_COUNTS - Object.keys(known).length;
  const isNew = (name: string) => !Object.hasOwn(known, name);
  const left = new Set(Object.keys(counts).filter(isNew).slice(room));
  addCounts(known, Object.fromEntries(Object.entries(counts).filter(([name]) => !left.has(name))));
  tx.sql.run`REPLACE INTO domain_stats (space, domain, reported_at, counts)
    VALUES (${tx.spaces.telemetry.need()}, ${domain}, ${tx.nowMs}, ${JSON.stringify(known)})`;
}

/** Forget the domains that were reported longest ago, beyond those that are kept. */
function forgetOldest({ sql, spaces }: Transaction): void {
  const { id } = spaces.telemetry;
  const over = sql.count('domain_stats', id) - MAX_KNOWN_DOMAINS;
  if (over <= 0) return;
  sql.run`DELETE FROM domain_stats WHERE space = ${id} AND domain IN
    (SELECT domain FROM domain_stats WHERE space = ${id} ORDER BY reported_at LIMIT ${over})`;
}

/** Keep the point of a step, and delete those of steps that are too long ago. */
function keep(tx: Transaction, kind: HistoryStep, most: number, point: HistoryPoint): void {
  const { name, ms } = historySteps[kind];
  const step = Math.floor(tx.wallMs / ms);
  const last = numberOf(tx, name);
  if (step === last) return;
  for (let old = last - most + 1; old <= Math.min(last, step - most); old++) deleteText(tx, `${name}${old}`);
  setText(tx, `${name}${step}`, pointText(point));
  setText(tx, name, String(step));
}

/** What happened to a crawl: the last events, and the nodes that died within a day. */
import { deadNodesOf, eventName, eventOf, factsOf } from '../../telemetry/stored-telemetry.js';
import { DEAD_NODES_FOR_MS, MAX_DEAD_NODES, PAUSES_TOGETHER_MS, TOLD_PAUSE_MS } from '../../types/limits.js';
import type { CrawlEvent, DeadNode } from '../../types/telemetry.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import type { Transaction } from '../base/transaction.js';
import type { DomainRow } from '../domains/domain-row.js';
import { incarnationName, type NodeRow } from '../nodes/node-row.js';
import { numberOf, setText, textOf } from './texts.js';

/** What an event says beside its number and time. */
type EventText<E = CrawlEvent> = E extends CrawlEvent ? Omit<E, 'number' | 'atMs'> : never;

/** @param agoMs how long ago it was */
export function addEvent(tx: OpenCrawl, event: EventText, agoMs = 0): void {
  const number = numberOf(tx, 'events') + 1;
  setText(tx, 'events', String(number));
  setText(tx, eventName(number), JSON.stringify({ number, atMs: tx.wallMs - agoMs, ...event }));
}

/**
 * A domain is left alone for all nodes, since it asked for that or does not answer. The event of the first one counts the others
 * soon after it, so that a crawl of many domains does not lose all other events.
 */
export function notePause(
  tx: OpenCrawl,
  domain: string,
  forMs: number,
  pausedBy: DomainRow['paused_by'],
): void {
  if (forMs < TOLD_PAUSE_MS || pausedBy === null) return;
  const reason = pausedBy === 'autothrottle' ? 'no_answer' : pausedBy;
  const name = eventName(numberOf(tx, 'events'));
  const last = eventOf(textOf(tx, name));
  if (last?.kind === 'domain_paused' && tx.wallMs - last.atMs < PAUSES_TOGETHER_MS) {
    setText(tx, name, JSON.stringify({ ...last, more: last.more + 1 }));
    return;
  }
  addEvent(tx, { kind: 'domain_paused', domain, forMs, reason, more: 0 });
}

/** A node was declared dead. @param held ids of requests that it held */
export function noteDeath(
  tx: Transaction,
  { id, host, pid, number, started_at, settled, leased }: NodeRow,
  held: readonly string[],
): void {
  const isRecent = ({ diedAtMs }: DeadNode) => diedAtMs > tx.wallMs - DEAD_NODES_FOR_MS;
  const before = deadNodesOf(textOf(tx, 'dead')).filter(isRecent);
  const facts = factsOf(textOf(tx, `node:${incarnationName(id, number)}`));
  const dead: DeadNode = {
    ...{ id, host, pid, startedAt: started_at, diedAtMs: tx.wallMs, requests: leased, held, pages: settled },
    facts,
  };
  setText(tx, 'dead', JSON.stringify([...before, dead].slice(-MAX_DEAD_NODES)));
  tx.counters.add({ 'nodes/died': 1 });
  addEvent(tx, { kind: 'node_died', node: id, requests: leased });
}

/** Finds out of the facts of a crawl what users ask: what limits it, how long it takes, how many nodes it wants. */
import type { Assessment, CrawlFacts, HistoryPoint, Telemetry } from '../types/telemetry.js';
import { leasable, least, nodesNeeded, slotsUsed, sum, wantedNodes } from './demand.js';
import { etaOf } from './eta.js';
import { limitOf } from './limited-by.js';

/** The points before that `assess` looks at. */
const ASSESSED_MS = 300_000;

/** An assessment some time after it was made: less is left. */
export function aged(assessment: Assessment, ageMs: number): Assessment {
  const { eta } = assessment;
  if (eta === null || eta.seconds === null) return assessment;
  return { ...assessment, eta: { ...eta, seconds: Math.max(0, Math.round(eta.seconds - ageMs / 1_000)) } };
}

/** What was found out, the point of the history that belongs to it, and `CrawlFacts.storedBytes`. */
export interface Assessed {
  readonly point: HistoryPoint;
  readonly assessment: Assessment;
  readonly storedBytes: number;
}

/** Assess a crawl as its store has it now; null without one. @param scaleMax the most nodes that are wanted */
export async function assessNow(
  telemetry: Pick<Telemetry, 'facts' | 'history'>,
  scaleMax: number,
): Promise<Assessed | null> {
  const facts = await telemetry.facts();
  if (facts === null) return null;
  return assess(
    facts,
    await telemetry.history('ten_seconds', facts.atMs - ASSESSED_MS, facts.atMs),
    scaleMax,
  );
}

/** @param history the points of the last `ASSESSED_MS` */
export function assess(facts: CrawlFacts, history: readonly HistoryPoint[], scaleMax: number): Assessed {
  const { atMs, leased } = facts;
  const { limitedBy, sentence } = limitOf(facts);
  const needed = Math.min(scaleMax, nodesNeeded(facts));
  const canLease = leasable(facts);
  const slots = sum(facts.nodes.map((node) => node.slots));
  const assessment: Assessment = {
    ...{ atMs, limitedBy, sentence, leasable: canLease, slots, slotsUsed: slotsUsed(facts.nodes) },
    usableSlots: Math.min(slots, leased + least(canLease)),
    eta: etaOf(facts, history),
    wantedNodes: Math.min(scaleMax, wantedNodes(needed, facts, history)),
  };
  const { items, failures, retries, accepted, pending, delayed, liveNodes, storeCpuSeconds } = facts;
  const point: HistoryPoint = {
    ...{ atMs, pages: facts.done, items, failures, retries, accepted, pending, delayed, leased },
    ...{ nodes: liveNodes, limitedBy, wantedNodes: needed },
    ...{ nodesCpu: hundredths(sum(facts.nodes.map(({ cpu }) => cpu))), storeCpuSeconds },
  };
  return { point, assessment, storedBytes: facts.storedBytes };
}

const hundredths = (number: number): number => Math.round(number * 100) / 100;

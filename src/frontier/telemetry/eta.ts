/** When the requests that are known are done. */
import type { CrawlFacts, DomainState, Eta, HistoryPoint } from '../types/telemetry.js';
import { demandOf } from './demand.js';

/** Pages that bring more new requests each than this make the end a guess. */
const DISCOVERING = 0.2;
/** A rate is measured over so much time at least. */
const LEAST_MS = 9_000;
/** RANDOMIZE_DOWNLOAD_DELAY makes a delay up to 1.5 times as long. */
const MEAN_RANDOM_DELAY = 1.25;

/** @param history of the last minutes, before this instant. @returns null where nothing goes on that could be measured */
export function etaOf(facts: CrawlFacts, history: readonly HistoryPoint[]): Eta | null {
  const left = facts.pending + facts.delayed + facts.leased;
  if (facts.control !== 'running' || left === 0) return null;
  const first = history.find((point) => facts.done >= point.pages && point.atMs < facts.atMs);
  if (first === undefined || facts.atMs - first.atMs < LEAST_MS) return null;
  const ended = facts.done - first.pages + Math.max(0, facts.failures - first.failures);
  if (ended <= 0) return null;
  const newPerPage = Math.max(0, facts.accepted - first.accepted) / ended;
  if (newPerPage > DISCOVERING)
    return { seconds: null, reason: 'discovering', newPerPage: rounded(newPerPage) };
  const msPerPage = (facts.atMs - first.atMs) / ended;
  const seconds = (left * msPerPage) / (1 - newPerPage) / 1_000;
  const slowest = slowestOf(facts, msPerPage);
  return slowest !== null && slowest.seconds > seconds
    ? { seconds: Math.round(slowest.seconds), by: 'slowest_domain', domain: slowest.domain }
    : { seconds: Math.round(seconds), by: 'rate', domain: null };
}

/** The domain that takes longest by itself, of those that were read. */
function slowestOf(facts: CrawlFacts, msPerPage: number): { seconds: number; domain: string } | null {
  // Little's law: what a page takes from lease to settle, for domains that nobody has measured.
  const pageMs = msPerPage * Math.max(1, Math.min(facts.leased, demandOf(facts)));
  let slowest: { seconds: number; domain: string } | null = null;
  for (const domain of [...facts.ready, ...facts.busy]) {
    const seconds = secondsOf(domain, pageMs);
    if (slowest === null || seconds > slowest.seconds) slowest = { seconds, domain: domain.name };
  }
  return slowest;
}

function secondsOf(
  { pending, leased, limit, delayMs, isDelayRandom, latencyMs, dueInMs }: DomainState,
  pageMs: number,
): number {
  const byLimit = (latencyMs > 0 ? latencyMs : pageMs) / Math.max(1, limit);
  const apartMs = Math.max(byLimit, isDelayRandom ? delayMs * MEAN_RANDOM_DELAY : delayMs);
  return (dueInMs + (pending + leased) * apartMs) / 1_000;
}

const rounded = (number: number): number => Math.round(number * 100) / 100;

/**
 * How telemetry is stored, in both engines: texts by name.
 *   node:INCARNATION   the last report of a live node: its sequence, a space, JSON of NodeFacts
 *   dead               JSON of DeadNode[], oldest first
 *   events             how many there were; event:N  JSON of the event with the number N modulo MAX_EVENTS
 *   assessment         JSON of Assessment
 *   claimed            the step of the history whose point a node was told to record last
 *   s, sN; m, mN       the step that was recorded last, and JSON of the point of the step N: since 1970, of ten seconds or a minute
 *   lost               lost requests that events have told of
 */

import {
  HISTORY_LONG_POINTS,
  HISTORY_LONG_STEP_MS,
  HISTORY_POINTS,
  HISTORY_STEP_MS,
  MAX_EVENTS,
} from '../types/limits.js';
import type {
  Assessment,
  CrawlEvent,
  DeadNode,
  HistoryPoint,
  HistoryStep,
  NodeFacts,
} from '../types/telemetry.js';

/** Reads texts by name, in order; null for one that is not there. */
export type ReadTexts = (names: readonly string[]) => Promise<readonly (string | null)[]>;

/** The name of each kind of step, its length, and how many are kept at most. The name alone has the last step that was recorded. */
export const historySteps: Readonly<
  Record<HistoryStep, { readonly name: string; readonly ms: number; readonly most: number }>
> = {
  ten_seconds: { name: 's', ms: HISTORY_STEP_MS, most: HISTORY_POINTS },
  minute: { name: 'm', ms: HISTORY_LONG_STEP_MS, most: HISTORY_LONG_POINTS },
};

/** Steps that are read at once at most. */
const STEPS_AT_ONCE = 1_000;

const columns = [
  ...['atMs', 'pages', 'items', 'failures', 'retries', 'accepted', 'pending', 'delayed', 'leased', 'nodes'],
  ...['wantedNodes', 'limitedBy', 'nodesCpu', 'storeCpuSeconds'],
] as readonly (keyof HistoryPoint)[];

/** A point in about 90 bytes: its values in the order of `columns`. */
export function pointText(point: HistoryPoint): string {
  return JSON.stringify(columns.map((name) => point[name]));
}

export async function readHistory(
  read: ReadTexts,
  step: HistoryStep,
  fromMs: number,
  toMs: number,
): Promise<HistoryPoint[]> {
  const { name, ms, most } = historySteps[step];
  // A reader may ask for all of time.
  const recorded = Number((await read([name]))[0] ?? 0);
  const first = Math.max(Math.floor(fromMs / ms), recorded - most + 1);
  const last = Math.min(Math.floor(toMs / ms), recorded);
  const points: HistoryPoint[] = [];
  for (let from = first; from <= last; from += STEPS_AT_ONCE) {
    const count = Math.min(STEPS_AT_ONCE, last - from + 1);
    const texts = await read(Array.from({ length: count }, (_, n) => `${name}${from + n}`));
    points.push(...texts.flatMap((text) => parsed(text, pointOf)));
  }
  return points.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

export async function readEvents(read: ReadTexts, after: number): Promise<CrawlEvent[]> {
  const [count] = await read(['events']);
  const last = Number(count ?? 0);
  const first = Math.max(after, last - MAX_EVENTS, 0) + 1;
  const names = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => eventName(first + n));
  const texts = names.length === 0 ? [] : await read(names);
  return texts.flatMap((text) => eventOf(text) ?? []);
}

export function eventOf(text: string | null | undefined): CrawlEvent | null {
  return parsed(text, (value) => value as CrawlEvent)[0] ?? null;
}

export function eventName(number: number): string {
  return `event:${number % MAX_EVENTS}`;
}

/** The last report of a node; null where there is none. */
export function factsOf(text: string | null | undefined): NodeFacts | null {
  return parsed(text?.slice(text.indexOf(' ') + 1), (value) => value as NodeFacts)[0] ?? null;
}

export function assessmentOf(text: string | null | undefined): Assessment | null {
  return parsed(text, (value) => value as Assessment)[0] ?? null;
}

export function deadNodesOf(text: string | null | undefined): DeadNode[] {
  const nodes = parsed(text, (value) => (Array.isArray(value) ? (value as DeadNode[]) : []))[0] ?? [];
  // Lua writes an empty list as a map.
  return nodes.map((node) => ({ ...node, held: Object.values(node.held ?? []) }));
}

function pointOf(values: unknown): HistoryPoint {
  return Object.fromEntries(
    columns.map((name, n) => [name, (values as unknown[])[n]]),
  ) as unknown as HistoryPoint;
}

/** Others can write to the store: what is no JSON of a table is skipped. */
function parsed<T>(text: string | null | undefined, read: (value: object) => T): T[] {
  if (text === null || text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? [read(value)] : [];
  } catch {
    return [];
  }
}

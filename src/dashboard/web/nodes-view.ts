/** The nodes of a crawl: which misbehaves, which died, and what that one held. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { CrawlStats } from '../../crawler/stats/crawl-stats.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import type { CrawlProps } from './overview.js';
import { Bar, type Column, clock, empty, ms, table, Url, useNow } from './parts.js';

type Node = CrawlStats['nodes'][number];
type DeadNode = CrawlStats['deadNodes'][number];

/** Beyond these a value is shown as trouble: the node is about to be late for its heartbeat, or a page hangs. */
const SLOW_LOOP_MS = 1_000;
const OLD_LEASE_MS = 120_000;
const FULL_CPU = 0.9;

const tone = (value: number, bad: number) => (value >= bad ? 'bad' : '');

const columns: readonly Column<Node>[] = [
  { title: 'Node', cell: ({ id }) => id },
  { title: 'Process', wide: true, cell: ({ host, pid }) => `${host}:${pid}` },
  { title: 'Version', wide: true, cell: ({ facts }) => facts?.version ?? '–' },
  { title: 'Runs for', wide: true, cell: ({ startedAt }) => duration(Date.now() - startedAt) },
  { title: 'Heartbeat', kind: 'number', cell: ({ heartbeatAgeMs }) => ms(heartbeatAgeMs) },
  { title: 'Pages/s', kind: 'number', cell: ({ pagesPerSecond }) => pagesPerSecond.toFixed(1) },
  { title: 'Pages', kind: 'number', wide: true, cell: ({ pages }) => n(pages) },
  {
    title: 'Slots',
    kind: 'number',
    cell: ({ facts, leased }) =>
      facts === null
        ? n(leased)
        : html`${facts.slotsUsed} of ${facts.slots} <${Bar} share=${facts.slotsUsed / facts.slots} />`,
  },
  {
    title: 'Failures/s',
    kind: 'number',
    wide: true,
    cell: ({ facts }) => (facts === null ? '–' : facts.failuresPerSecond.toFixed(1)),
  },
  {
    title: 'CPU',
    kind: 'number',
    cell: ({ facts }) =>
      facts === null
        ? '–'
        : html`<span class=${tone(facts.cpu, FULL_CPU)}>${Math.round(facts.cpu * 100)} %</span>`,
  },
  {
    title: 'Memory',
    kind: 'number',
    wide: true,
    cell: ({ facts }) => (facts === null ? '–' : byteSize(facts.rssBytes)),
  },
  {
    title: 'Loop delay',
    kind: 'number',
    wide: true,
    cell: ({ facts }) =>
      facts === null
        ? '–'
        : html`<span class=${tone(facts.eventLoopDelayMs, SLOW_LOOP_MS)}>${ms(facts.eventLoopDelayMs)}</span>`,
  },
  {
    title: 'Oldest page',
    kind: 'number',
    wide: true,
    cell: ({ facts }) =>
      facts === null || facts.oldestLeaseMs === 0
        ? '–'
        : html`<span class=${tone(facts.oldestLeaseMs, OLD_LEASE_MS)}>${ms(facts.oldestLeaseMs)} ${facts.oldestLeaseDomain}</span>`,
  },
  {
    title: 'Waits for',
    wide: true,
    cell: ({ facts }) => (facts?.obstacle ? html`<span class="bad">${facts.obstacle}</span>` : '–'),
  },
];

const silentColumns = columns.filter(({ title }) => /Node|Process|Heartbeat|Slots/.test(title));

export function Nodes({ stats }: CrawlProps): VNode {
  const { silentNodes, deadNodes } = stats;
  const nodes = [...stats.nodes].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  useNow(5_000);
  return html`
    ${
      nodes.length === 0
        ? empty('No node is running', html`Start one with <code>crawlnode crawl ${stats.spider}</code>.`)
        : table({ label: 'Nodes', columns, rows: nodes, keyOf: keyOf })
    }
    ${
      silentNodes.length > 0 &&
      html`<section aria-labelledby="silent"><h2 id="silent">Silent</h2>
        <p class="quiet">Without a heartbeat for longer than NODE_TIMEOUT. Their requests go back to the queue.</p>
        ${table({ label: 'Silent nodes', columns: silentColumns, rows: silentNodes, keyOf: keyOf })}</section>`
    }
    ${
      deadNodes.length > 0 &&
      html`<section aria-labelledby="dead"><h2 id="dead">Died within a day</h2>
        <ul class="plain">${[...deadNodes].reverse().map(deadNode)}</ul></section>`
    }`;
}

function keyOf({ id, host, pid, startedAt }: Node): string {
  return `${id} ${host} ${pid} ${startedAt}`;
}

function deadNode({ id, host, pid, diedAtMs, requests, pages, held, facts }: DeadNode): VNode {
  return html`<li key=${`${id} ${diedAtMs}`}>
    <p><b>${id}</b> <span class="quiet">${host}:${pid}</span> died at ${clock(diedAtMs)}, after ${howMany(pages, 'page')}. It held ${howMany(requests, 'request')}${requests > 0 ? ', which went back to the queue' : ''}.</p>
    ${facts !== null && html`<p class="quiet">Its last report: ${facts.slotsUsed} of ${facts.slots} slots, ${byteSize(facts.rssBytes)}, ${Math.round(facts.cpu * 100)} % of a core, loop delay ${ms(facts.eventLoopDelayMs)}, oldest page ${ms(facts.oldestLeaseMs)} ${facts.oldestLeaseDomain}.</p>`}
    ${
      held.length > 0 &&
      html`<details><summary>What it held</summary><ul class="plain">${held.map(
        ({ id: request, url, state }) =>
          html`<li key=${request}>${url === null ? html`<code>${request}</code>` : html`<${Url} url=${url} />`} <span class="quiet">${state ?? ''}</span></li>`,
      )}</ul></details>`
    }
  </li>`;
}

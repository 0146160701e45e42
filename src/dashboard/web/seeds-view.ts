/** Seeds: how many wait, which were bad and why, and a form for more. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { howMany, n } from '../../format-amounts.js';
import type { BadSeed } from '../../frontier/bad-seed-entry.js';
import { Pages } from './domains-view.js';
import type { CrawlProps } from './overview.js';
import { Age, type Column, clock, command, empty, sentence, shown, table } from './parts.js';
import { crawlPath, post, useData } from './server.js';

interface Page {
  readonly found: readonly (BadSeed | string)[];
  readonly next: string | null;
}

interface Seeded {
  readonly accepted: number;
  readonly duplicates: number;
  readonly bad: number;
  readonly badSeeds: readonly { readonly seed: string; readonly reason: string }[];
  readonly isQueueFull: boolean;
}

export function Seeds({
  crawl,
  stats,
  allowActions,
}: CrawlProps & { readonly allowActions: boolean }): VNode {
  const [starts, setStarts] = useState<readonly (string | null)[]>([null]);
  const after = starts.at(-1) ?? null;
  const page = useData<Page>(`${crawlPath(crawl)}/seeds${after === null ? '' : `?after=${after}`}`, 10_000);
  return html`<${Age} ...${page} />
    <p>${stats.startUrls === 0 ? 'No seed waits in start_urls.' : `${howMany(stats.startUrls, 'seed')} wait in start_urls until a node reads them.`}</p>
    ${allowActions ? html`<${SeedForm} crawl=${crawl} />` : html`<p class="quiet">Add seeds with ${command(`crawlnode seed ${crawl} URL`)}</p>`}
    <section aria-labelledby="bad"><h2 id="bad">Bad seeds</h2>
    ${shown(page, ({ found, next }) =>
      found.length === 0
        ? empty(
            'No bad seeds',
            'Seeds that a node cannot turn into requests are set aside here, with the reason.',
          )
        : [
            table({ label: 'Bad seeds', columns, rows: found, keyOf: (row) => JSON.stringify(row) }),
            html`<${Pages} starts=${starts} next=${next} onGo=${setStarts} />`,
          ],
    )}</section>`;
}

/** Others can write to the store, so an entry may be anything. */
const field = (row: BadSeed | string, name: string): string | null => {
  const value = typeof row === 'object' && row !== null ? (row as Record<string, unknown>)[name] : undefined;
  return value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);
};

const columns: readonly Column<BadSeed | string>[] = [
  {
    title: 'Seed',
    kind: 'long',
    cell: (row) =>
      html`<span class="url">${field(row, 'seed') ?? field(row, 'seed_base64') ?? JSON.stringify(row)}</span>`,
  },
  { title: 'Reason', kind: 'long', cell: (row) => field(row, 'reason') ?? '–' },
  {
    title: 'Set aside',
    wide: true,
    cell: (row) => {
      const atMs = Date.parse(field(row, 'at') ?? '');
      return Number.isNaN(atMs) ? '–' : clock(atMs);
    },
  },
];

function SeedForm({ crawl }: { readonly crawl: string }): VNode {
  const [text, setText] = useState('');
  const [said, setSaid] = useState('');
  const [bad, setBad] = useState<Seeded['badSeeds']>([]);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const seeds = text.split('\n').filter((line) => line.trim() !== '');
    if (seeds.length === 0) return;
    setBusy(true);
    try {
      const seeded = await post<Seeded>(`${crawlPath(crawl)}/seed`, { seeds });
      const { accepted, duplicates, isQueueFull } = seeded;
      const full = isQueueFull ? '; the queue is full, so the others were left' : '';
      setSaid(`${n(accepted)} accepted, ${n(duplicates)} duplicate, ${n(seeded.bad)} bad${full}`);
      setBad(seeded.badSeeds);
      if (seeded.bad === 0 && !isQueueFull) setText('');
    } catch (error) {
      setSaid((error as Error).message);
    }
    setBusy(false);
  };
  return html`<form class="seed" onSubmit=${submit}>
    <label for="seeds">Add seeds, one a line: URLs, or requests as JSON</label>
    <textarea id="seeds" rows="4" value=${text} spellcheck=${false}
      onInput=${(event: { currentTarget: HTMLTextAreaElement }) => setText(event.currentTarget.value)}></textarea>
    <p class="buttons"><button class="main" disabled=${isBusy}>Add seeds</button> <span role="status">${said && sentence(said)}</span></p>
    ${bad.length > 0 && html`<ul class="plain">${bad.map(({ seed, reason }) => html`<li><span class="url">${seed}</span> <span class="bad">${reason}</span></li>`)}</ul>`}
  </form>`;
}

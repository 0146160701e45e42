/** Parts that all views share. Whatever comes from a crawl becomes a text node here, never markup. */
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CrawlState } from '../../crawler/stats/crawl-state.js';
import { duration, n } from '../../format-amounts.js';
import type { Loaded } from './server.js';

export type Children = ComponentChildren;

/** A column of a table. `wide` ones are left out on narrow screens. */
export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => Children;
  readonly kind?: 'number' | 'text' | 'long' | 'name';
  readonly wide?: boolean;
  /** For a column that sorts, the order that it sorts by. */
  readonly sort?: string;
}

export interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly sort?: string;
  readonly onSort?: (order: string) => void;
}

export function table<T>({ label, columns, rows, keyOf, sort, onSort }: TableProps<T>): VNode {
  const classOf = ({ kind = 'text', wide }: Column<T>) => `${kind}${wide ? ' wide' : ''}`;
  const head = (column: Column<T>) =>
    column.sort === undefined
      ? column.title
      : html`<button class="sort" onClick=${() => onSort?.(column.sort!)}>${column.title}</button>`;
  return html`<div class="table" role="region" aria-label=${label} tabindex="0">
    <table>
      <thead><tr>${columns.map(
        (column) => html`<th scope="col" class=${classOf(column)}
          aria-sort=${column.sort === undefined ? undefined : column.sort === sort ? 'descending' : 'none'}>${head(column)}</th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        (row) =>
          html`<tr key=${keyOf(row)}>${columns.map((column, at) =>
            at === 0
              ? html`<th scope="row" class=${classOf(column)}>${column.cell(row)}</th>`
              : html`<td class=${classOf(column)}>${column.cell(row)}</td>`,
          )}</tr>`,
      )}</tbody>
    </table>
  </div>`;
}

/** What is shown of something that was read: it, that it loads, or why it is not there. */
export function shown<T>({ data, problem }: Loaded<T>, view: (data: T) => Children): Children {
  if (data !== null) return view(data);
  if (problem === null) return html`<p class="quiet" role="status">Loading …</p>`;
  return html`<p class="notice bad" role="alert">${sentence(problem)}</p>`;
}

/** While newer data cannot be had: since when, and why. */
export function Age({
  atMs,
  problem,
}: {
  readonly atMs: number;
  readonly problem: string | null;
}): VNode | null {
  const now = useNow(problem === null ? null : 1_000);
  if (problem === null || atMs === 0) return null;
  return html`<p class="notice warn" role="alert">
    ${sentence(problem)} This is how it was ${duration(Math.max(0, now - atMs))} ago, at ${clock(atMs)}. It is read again as
    soon as that is possible.
  </p>`;
}

/** The time, again and again; null stands still. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function empty(title: string, text: Children): VNode {
  return html`<div class="empty"><h2>${title}</h2><p>${text}</p></div>`;
}

/** A crawled URL: a link only where a browser would fetch it, and where it leads nothing is told of this page. */
export function Url({ url }: { readonly url: string | null }): VNode {
  if (url === null) return html`<span class="quiet">record not kept</span>`;
  if (!/^https?:\/\//i.test(url)) return html`<span class="url">${url}</span>`;
  return html`<a class="url" href=${url} target="_blank" rel="noreferrer noopener">${url}</a>`;
}

/** The name of a site, which wraps after a dot rather than within a word. */
export function domainName(domain: string): Children {
  return domain.split('.').flatMap((part, at) => (at === 0 ? [part] : ['.', html`<wbr />`, part]));
}

/** An example of a command, to be typed. */
export function command(text: string): VNode {
  return html`<code class="command">${text}</code>`;
}

const stateTones: Readonly<Record<CrawlState, string>> = {
  running: 'good',
  paused: 'warn',
  stopping: 'warn',
  closing: 'warn',
  died: 'bad',
  waiting: '',
  ended: '',
  not_begun: '',
};

export function State({ state }: { readonly state: CrawlState }): VNode {
  const words: Partial<Record<CrawlState, string>> = {
    not_begun: 'not begun',
    waiting: 'waits for a node',
    died: 'all nodes died',
  };
  return html`<span class=${`state ${stateTones[state]}`}>${words[state] ?? state}</span>`;
}

/** A share of a whole, as a bar; the number beside it says the same. */
export function Bar({ share, tone = '' }: { readonly share: number; readonly tone?: string }): VNode {
  return html`<span class=${`bar ${tone}`} aria-hidden="true"><i style=${{ width: `${Math.min(100, share * 100).toFixed(1)}%` }}></i></span>`;
}

export interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly verb: string;
  readonly onEnd: (isConfirmed: boolean) => void;
}

/** Asks before something that cannot be undone. Escape and the first button leave it. */
export function Confirm({ title, text, verb, onEnd }: ConfirmProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const end = (isConfirmed: boolean) => () => onEnd(isConfirmed);
  return html`<dialog ref=${dialog} aria-labelledby="confirm" onCancel=${end(false)}>
    <h2 id="confirm">${title}</h2>
    <p>${text}</p>
    <p class="buttons">
      <button onClick=${end(false)}>Cancel</button>
      <button class="danger" onClick=${end(true)}>${verb}</button>
    </p>
  </dialog>`;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

export function clock(atMs: number): string {
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleTimeString('en-GB');
  return isToday ? time : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${time}`;
}

export function ms(value: number | null): string {
  return value === null ? '–' : value < 10_000 ? `${n(Math.round(value))} ms` : duration(value);
}

/** `403 × 12, 503 × 3`: the most frequent first. A line ends before a sign only after a long name, and never within a number. */
export function counted(counts: Readonly<Record<string, number>>): string {
  const all = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const some = all
    .slice(0, 4)
    .map(([name, count]) => `${name}${name.length > 3 ? ' ' : '\u00a0'}×\u00a0${n(count)}`);
  return all.length === 0 ? '–' : some.join(', ') + (all.length > 4 ? ' …' : '');
}

export function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** A count for a small place: `1.2K`. */
export function howManyOf(count: number): string {
  return count < 10_000 ? n(count) : Intl.NumberFormat('en', { notation: 'compact' }).format(count);
}

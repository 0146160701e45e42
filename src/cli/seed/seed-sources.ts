/** The sources of a `seed` command, and the single stream of seeds that they form. */
import path from 'node:path';
import type { OpenSitemaps } from '../../crawler/seeds/open-sitemaps.js';
import type { SeedText } from '../../crawler/seeds/seed-text.js';
import { UsageError } from '../../errors.js';
import type { Context } from '../context.js';
import { columnOf, type Inputs, type Reading, readLines } from '../input/read-lines.js';

export interface SeedSources extends Inputs {
  /** URLs as given, paths absolute. */
  readonly sitemaps: readonly string[];
  /** Only sitemap entries that changed after this instant. */
  readonly sinceMs: number | null;
}

/** @throws UsageError when there is no source, or an option is invalid. */
export async function seedSources(
  context: Context,
  seeds: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<SeedSources> {
  const names = (options.file ?? []) as readonly string[];
  if (names.includes('-')) throw new UsageError('--file - names a file: --stdin reads from stdin');
  const given = (options.sitemap ?? []) as readonly string[];
  const stdin = options.stdin === true;
  // stdin is read only with --stdin: a parent process often leaves it open without writing to it.
  if (seeds.length + given.length === 0 && names.length === 0 && !stdin) {
    throw new UsageError('no seeds: give URLs, --file FILE, --stdin or --sitemap URL');
  }
  if (options.column !== undefined && names.length === 0 && !stdin) {
    throw new UsageError('--column goes with --file or --stdin: it names a column of a CSV file');
  }
  const sinceMs = instantOf(options.since);
  if (sinceMs !== null && given.length === 0) {
    throw new UsageError('--since goes with --sitemap: only sitemaps say when a page has changed');
  }
  const { sitemapSource } = await import('../../crawler/seeds/sitemap-seeds.js');
  const sitemaps = given.map((source) => sitemapSource(source, context.cwd));
  const files = names.map((name) => path.resolve(context.cwd, name));
  return {
    seeds,
    files: files.map((file) => ({ path: file, column: columnOf(file, options) })),
    stdin,
    column: stdin ? columnOf(null, options) : null,
    sitemaps,
    sinceMs,
  };
}

/** Seeds from the arguments, the files, stdin and the sitemaps, in this order. */
export async function* seedLines(
  context: Context,
  sources: SeedSources,
  open: OpenSitemaps | null,
  reading: Reading & { readonly stop: AbortSignal },
): AsyncIterable<SeedText> {
  yield* readLines(context, sources, reading);
  if (open === null) return;
  for (const source of sources.sitemaps) yield* open.seeds.lines(source, reading.stop);
}

function instantOf(text: unknown): number | null {
  if (typeof text !== 'string') return null;
  const atMs = /^\d{4}(-\d\d){0,2}(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw new UsageError(`--since ${text}: expected a date such as 2026-11-01 or 2026-11-01T12:00:00Z`);
  }
  return atMs;
}

/** What `crawl --dry-run` prints. */
import path from 'node:path';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { type DryRun, READ_OF_START } from '../../crawler/run/dry-run.js';
import { howMany, n } from '../../format-amounts.js';
import { type Context, masked, note, print, printJson } from '../context.js';
import { paintFor } from '../terminal/colour.js';
import { oneLine } from '../terminal/printable.js';
import { stateText } from './crawl-state-text.js';

/** More start URLs are only counted. */
const SHOWN = 10;

export function printDryRun(context: Context, plan: DryRun): void {
  if (context.globals.json) printJson(context, masked(context, plan));
  else printText(context, plan);
}

function printText(context: Context, plan: DryRun): void {
  const line = (name: string, text: string) =>
    print(context, `${name.padEnd(13)}${oneLine(context.mask(text))}`);
  const inProject = (file: string) => path.relative(context.cwd, file);
  const { stats } = plan;

  print(context, `dry run of ${crawlName(plan)}: nothing was changed\n`);
  line('spider', inProject(plan.file));
  line(
    'settings',
    plan.settingsFile === null ? 'the defaults; no settings file' : inProject(plan.settingsFile),
  );
  line('store', `${plan.store} (${stats.engine})`);
  const waiting = stats.pending + stats.delayed + stats.leased;
  const paint = paintFor(context, context.stdout);
  line(
    'crawl',
    `${stateText(stats, paint, Date.now())}; ${n(waiting)} waiting, ${n(stats.done)} done, ${n(stats.failed)} failed`,
  );
  if (stats.startUrls > 0) line('seeds', `${n(stats.startUrls)} wait in the start_urls key`);
  for (const feed of plan.feeds)
    line('items', `${feed.overwrite ? 'replace' : 'append to'} ${feed.file} (${feed.format})`);
  for (const name of plan.pipelines) line('pipeline', name);
  for (const name of plan.middleware) line('middleware', name);
  for (const name of plan.extensions) line('extension', name);
  printStart(context, plan);
  for (const notice of plan.notices) note(context, notice, 'warn');
}

function printStart(context: Context, { startRequests, isGenerator, stats }: DryRun): void {
  const count = startRequests.length;
  const isCut = isGenerator && count === READ_OF_START;
  const source = isGenerator ? 'start()' : 'startUrls';
  print(context, `\n${source}: ${isCut ? `the first ${n(count)} requests` : howMany(count, 'request')}`);
  for (const { url, method, callback } of startRequests.slice(0, SHOWN)) {
    const what = method === 'GET' ? url : `${method} ${url}`;
    print(context, oneLine(context.mask(`  ${what} → ${callback}`)));
  }
  if (count > SHOWN) print(context, `  and ${n(count - SHOWN)} more`);
  if (stats.state !== 'not_begun' && count > 0) {
    print(
      context,
      '  Requests that this job has had already, with the same arguments, are not fetched again.',
    );
  }
}

/** The table of commands: name, one-line summary for the help, and the module, which is loaded on use. */
import type { CliCommand } from './command.js';

export interface CommandEntry {
  readonly summary: string;
  load(): Promise<{ readonly command: CliCommand }>;
}

const control = (name: 'pause' | 'resume' | 'stop') => async () => ({
  command: (await import('./commands/control.js'))[name],
});

export const commands: Readonly<Record<string, CommandEntry>> = {
  init: { summary: 'make a new project', load: () => import('./commands/init.js') },
  crawl: { summary: 'run a node of a crawl, or several', load: () => import('./commands/crawl.js') },
  seed: { summary: 'add start requests to a crawl', load: () => import('./commands/seed.js') },
  reset: { summary: 'delete the state of a crawl', load: () => import('./commands/reset.js') },
  restore: { summary: 'bring back what reset --backup saved', load: () => import('./commands/restore.js') },
  stats: { summary: 'show how crawls stand', load: () => import('./commands/stats.js') },
  failed: {
    summary: 'list, retry or drop the requests that failed',
    load: () => import('./commands/failed.js'),
  },
  inspect: { summary: 'show where one request stands', load: () => import('./commands/inspect.js') },
  forget: {
    summary: 'let URLs be accepted again, as if never seen',
    load: () => import('./commands/forget.js'),
  },
  items: {
    summary: 'move committed items into a file',
    load: () => import('./commands/items.js'),
  },
  pause: { summary: 'have all nodes of a crawl wait', load: control('pause') },
  resume: { summary: 'let a paused crawl go on', load: control('resume') },
  stop: { summary: 'have all nodes of a crawl leave', load: control('stop') },
  list: { summary: 'name the spiders of the project', load: () => import('./commands/list.js') },
  settings: { summary: 'print the settings in effect', load: () => import('./commands/settings.js') },
  fetch: { summary: 'download one page and print it', load: () => import('./commands/fetch.js') },
  parse: { summary: 'run a callback on one page', load: () => import('./commands/parse.js') },
  fingerprint: {
    summary: 'print the fingerprints of a URL',
    load: () => import('./commands/fingerprint.js'),
  },
  doctor: {
    summary: 'look for what is wrong with machine, store and crawls',
    load: () => import('./commands/doctor.js'),
  },
  version: { summary: 'print the version', load: () => import('./commands/version.js') },
};

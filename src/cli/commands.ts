/** The table of commands: name, one-line summary for the help, and the module, which is loaded on use. */
import type { CommandTable } from './command.js';

const control = (name: 'pause' | 'resume' | 'stop') => async () => ({
  command: (await import('./commands/control.js'))[name],
});

export const commands: CommandTable = {
  init: { summary: 'make a new project', load: () => import('./commands/init.js') },
  genspider: { summary: 'make a new spider', load: () => import('./commands/genspider.js') },
  crawl: { summary: 'run a node of a crawl, or several', load: () => import('./commands/crawl.js') },
  runspider: {
    summary: 'crawl the spider of one file, without a project',
    load: () => import('./commands/runspider.js'),
  },
  seed: { summary: 'add start requests to a crawl', load: () => import('./commands/seed.js') },
  reset: { summary: 'delete the state of a crawl', load: () => import('./commands/reset.js') },
  restore: { summary: 'restore what reset --backup saved', load: () => import('./commands/restore.js') },
  stats: { summary: 'show the state of crawls', load: () => import('./commands/stats.js') },
  dashboard: {
    summary: 'show all crawls in a browser, and serve their metrics',
    load: () => import('./commands/dashboard.js'),
  },
  plan: {
    summary: 'say what a crawl of a given size takes',
    load: () => import('./commands/plan.js'),
  },
  failed: {
    summary: 'list, retry or delete failed requests',
    load: () => import('./commands/failed.js'),
  },
  inspect: { summary: 'show the state of one request', load: () => import('./commands/inspect.js') },
  forget: {
    summary: 'remove URLs from the dupefilter',
    load: () => import('./commands/forget.js'),
  },
  items: {
    summary: 'show committed items, or move them into a file',
    load: () => import('./commands/items.js'),
  },
  pause: { summary: 'pause all nodes of a crawl', load: control('pause') },
  resume: { summary: 'continue a paused crawl', load: control('resume') },
  stop: { summary: 'stop all nodes of a crawl', load: control('stop') },
  list: { summary: 'list the spiders of the project', load: () => import('./commands/list.js') },
  settings: { summary: 'print the settings in effect', load: () => import('./commands/settings.js') },
  fetch: { summary: 'download one page and print it', load: () => import('./commands/fetch.js') },
  parse: { summary: 'run a callback on one page', load: () => import('./commands/parse.js') },
  shell: { summary: 'try selectors and requests at a prompt', load: () => import('./commands/shell.js') },
  fingerprint: {
    summary: 'print the fingerprints of a URL',
    load: () => import('./commands/fingerprint.js'),
  },
  doctor: {
    summary: 'check the machine, the store and the crawls for problems',
    load: () => import('./commands/doctor.js'),
  },
  completion: {
    summary: 'print a script that completes commands in a shell',
    load: async () => ({ command: (await import('./commands/completion.js')).completionOf(commands) }),
  },
  version: { summary: 'print the version', load: () => import('./commands/version.js') },
};

/** All files that are made from the source, by their paths in the repository. */
import { apiPage } from './api-page.js';
import { commandsPage } from './commands-page.js';
import { documentSettings } from './settings-file.js';
import { settingsPage } from './settings-page.js';
import { SourceApi } from './source-api.js';
import { statsPage } from './stats-page.js';

/** @returns path → text. */
export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  const source = new SourceApi([
    'index.ts',
    'crawler/stats/crawl-stats.ts',
    'crawler/stats/crawl-state.ts',
    'frontier/frontier.ts',
  ]);
  return {
    'config/crawlnode.yaml': documentSettings(),
    'docs/reference/settings.md': settingsPage(),
    'docs/reference/commands.md': await commandsPage(),
    'docs/reference/stats-and-counters.md': statsPage(source),
    'docs/reference/api.md': apiPage(source),
  };
}

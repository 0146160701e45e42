/** The options that select failed requests. `src/crawler/requests/failed-filter.ts` reads them. */
import type { Command } from 'commander';
import { commaList } from './option-parsers.js';

/** Declare the options that `failedFilter` reads. */
export function filterOptions(command: Command): Command {
  return command
    .option('--status <statuses>', 'only with this HTTP status: 503, 5xx, or a list with commas', commaList)
    .option('--domain <domain>', 'only of this domain and its subdomains')
    .option('--reason <reasons>', 'only with this reason, such as timeout, or a list with commas', commaList);
}

/** Which failed requests the options of `failed` select. */
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { filterOptions } from '../../../src/cli/options/failed-filter.js';
import { failedFilter } from '../../../src/crawler/requests/failed-filter.js';

it('an option that is given twice counts both times, as a list with commas does', () => {
  const selected = (...args: string[]) => {
    const filter = failedFilter(filterOptions(new Command()).parse(args, { from: 'user' }).opts());
    return [500, 404, 503].filter((status) => filter({ reason: 'http_status', status, url: null }));
  };
  expect(selected('--status', '500', '--status', '404')).toEqual([500, 404]);
  expect(selected('--status', '500,404')).toEqual([500, 404]);
  expect(selected('--reason', 'timeout', '--reason', 'http_status', '--status', '5xx')).toEqual([500, 503]);
});

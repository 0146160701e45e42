/** A dupefilter of every class: a test that walks them walks a new class too. */
import { tmpdir } from 'node:os';
import { type Dupefilter, dupefilterNames, dupefilterOf } from '../../../src/frontier/dupefilter-classes.js';
import { loadSettings } from '../../../src/settings/sources/load-settings.js';

/**
 * Fingerprints expire after an hour, where they do. The slices of the Bloom filter are small, so that some are opened, and it
 * errs next to never: at a rate of 10⁻⁵ one in a hundred orders in which a backup brings 1,500 fingerprints has one taken
 * for seen (1,500 orders tried).
 */
const parameters = {
  DUPEFILTER_EXPIRE: '3600',
  DUPEFILTER_CAPACITY: '600',
  DUPEFILTER_ERROR_RATE: '0.0000001',
};

export const everyDupefilter: readonly Dupefilter[] = dupefilterNames.map((name) => {
  const cli = { ...parameters, DUPEFILTER_CLASS: name };
  return dupefilterOf(loadSettings({ cwd: tmpdir(), file: false, env: {}, cli }).settings);
});

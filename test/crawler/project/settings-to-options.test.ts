/** Settings, with Scrapy's names and units, become plain options of a node. */
import { expect, test } from 'vitest';
import { nodeOptionsOf } from '../../../src/crawler/project/settings-to-options.js';
import { loadSettings } from '../../../src/settings/sources/load-settings.js';
import { tempDir } from '../../helpers/temp-dir.js';

const tunables = (cli: Record<string, string>) => {
  const { settings } = loadSettings({ cwd: tempDir().dir, env: {}, cli });
  const command = {
    exitWhenDone: true,
    isAwaited: true,
    feeds: [],
    speaksJson: false,
    awaitsFinalTotals: false,
    endsStuckProcess: true,
    metrics: null,
  };
  return nodeOptionsOf(settings, command).tunables;
};

test('without DOWNLOAD_SLOTS and AutoThrottle there are none', () => {
  expect(tunables({})).toMatchObject({ slots: null, autothrottle: null });
});

test('DOWNLOAD_SLOTS is by domain, in ms; a host is known in lower case too', () => {
  const DOWNLOAD_SLOTS = JSON.stringify({
    'A.example:8080': { delay: 0.5, randomize_delay: false },
    'b.example': { concurrency: 3 },
  });
  const a = { delayMs: 500, randomizeDelay: false };
  expect(tunables({ DOWNLOAD_SLOTS }).slots).toEqual({
    'A.example:8080': a,
    'a.example:8080': a,
    'b.example': { concurrency: 3 },
  });
});

test.each([
  ['{"a.example":{"delay":-1}}'],
  ['{"a.example":{"concurrency":0}}'],
  ['{"a.example":{"Delay":1}}'],
  ['{"a.example":3}'],
  ['[]'],
])('DOWNLOAD_SLOTS is refused as %s', (DOWNLOAD_SLOTS) => {
  expect(() => tunables({ DOWNLOAD_SLOTS })).toThrow(/DOWNLOAD_SLOTS/);
});

test('AutoThrottle has its parameters in ms', () => {
  const AUTOTHROTTLE_TARGET_CONCURRENCY = '2.5';
  expect(tunables({ AUTOTHROTTLE_ENABLED: 'true', AUTOTHROTTLE_TARGET_CONCURRENCY }).autothrottle).toEqual({
    startDelayMs: 5_000,
    maxDelayMs: 60_000,
    targetConcurrency: 2.5,
  });
});

/** Key templates become the names of keys, for spiders, jobs and Clusters. */
import { describe, expect, it } from 'vitest';
import { SettingsError, UsageError } from '../../src/errors.js';
import { checkName, expandKeys, namesSpider } from '../../src/settings/keys.js';

const defaults = {
  SCHEDULER_QUEUE_KEY: '%(spider)s:requests',
  SCHEDULER_DUPEFILTER_KEY: '%(spider)s:dupefilter',
  REDIS_START_URLS_KEY: '%(name)s:start_urls' as string | string[],
  REDIS_ITEMS_KEY: '%(spider)s:items',
  STATS_KEY: '%(spider)s:stats',
};
const single = { cluster: false };
const cluster = { cluster: true };

describe('expandKeys', () => {
  it('puts the name of the spider where Scrapy-Redis does', () => {
    expect(expandKeys(defaults, 'news', null, single)).toEqual({
      requests: 'news:requests',
      dupefilter: 'news:dupefilter',
      startUrls: ['news:start_urls'],
      items: 'news:items',
      stats: 'news:stats',
    });
  });

  it('a job ends every key', () => {
    expect(Object.values(expandKeys(defaults, 'news', '2024-05', single)).flat()).toEqual([
      'news:requests@2024-05',
      'news:dupefilter@2024-05',
      'news:start_urls@2024-05',
      'news:items@2024-05',
      'news:stats@2024-05',
    ]);
  });

  it('in a Cluster the part of the spider is the hash tag of every key', () => {
    const keys = expandKeys({ ...defaults, STATS_KEY: 'x:%(spider)s:%(name)s' }, 'news', 'a', cluster);
    expect(keys.startUrls).toEqual(['{news}:start_urls@a']);
    expect(keys.stats).toBe('x:{news}:news@a');
  });

  it('a key outside the slot of the spider is refused in a Cluster', () => {
    expect(() => expandKeys({ ...defaults, REDIS_ITEMS_KEY: 'all:items' }, 'news', null, cluster)).toThrow(
      SettingsError,
    );
    expect(() =>
      expandKeys({ ...defaults, REDIS_ITEMS_KEY: '{a}%(spider)s' }, 'news', null, cluster),
    ).toThrow(SettingsError);
  });

  it('several keys of seeds are kept in their order', () => {
    const seeds = { ...defaults, REDIS_START_URLS_KEY: ['urgent', '%(name)s:start_urls'] };
    expect(expandKeys(seeds, 'news', null, single).startUrls).toEqual(['urgent', 'news:start_urls']);
  });

  it('%% is a percent sign, and any other %… is refused by name', () => {
    expect(expandKeys({ ...defaults, STATS_KEY: '%%d:%(spider)s' }, 'n', null, single).stats).toBe('%d:n');
    for (const STATS_KEY of ['%(job)s:stats', '%s', 'a%', '%Y%m%d']) {
      expect(() => expandKeys({ ...defaults, STATS_KEY }, 'n', null, single)).toThrow(
        /STATS_KEY: .* contains %/,
      );
    }
  });

  it('two settings with one key are refused', () => {
    expect(() => expandKeys({ ...defaults, STATS_KEY: '%(spider)s:items' }, 'n', null, single)).toThrow(
      'n:items',
    );
  });

  it('names of spiders and jobs that could reach into other keys are refused', () => {
    for (const name of ['', 'a:b', 'a b', '{a}', 'a*', 'a@b', '../a', 'é', 'x'.repeat(65)]) {
      expect(() => expandKeys(defaults, name, null, single)).toThrow(UsageError);
      expect(() => checkName('job', name)).toThrow(UsageError);
    }
    expect(() => checkName('spider', 'A.b_c-9')).not.toThrow();
  });
});

describe('namesSpider', () => {
  it('tells templates that belong to one spider from shared keys', () => {
    expect([namesSpider('%(spider)s:x'), namesSpider('%(name)s'), namesSpider('all:items')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

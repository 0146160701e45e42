/** Built-in middleware in the settings: switched off by null, never moved. */
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/settings/sources/load-settings.js';
import { tempDir } from '../helpers/temp-dir.js';

const { dir } = tempDir('middleware-settings');
const load = (settings: Record<string, unknown>) =>
  loadSettings({ cwd: dir, env: {}, cli: {}, spider: { settings, where: 'the spider' } });
const refusal = (settings: Record<string, unknown>): string => {
  try {
    load(settings);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('a built-in middleware', () => {
  it('is switched off by null, by name or dotted path, which is its setting', () => {
    const { settings, sources } = load({
      RETRY_TIMES: 5,
      REDIRECT_ENABLED: true,
      DOWNLOADER_MIDDLEWARES: {
        RetryMiddleware: null,
        'scrapy.downloadermiddlewares.redirect.RedirectMiddleware': null,
        'scrapy.downloadermiddlewares.useragent.UserAgentMiddleware': null,
        './middlewares/sign.ts': 450,
      },
      SPIDER_MIDDLEWARES: { 'scrapy.spidermiddlewares.httperror.HttpErrorMiddleware': null },
    });
    expect(settings).toMatchObject({
      ...{ RETRY_ENABLED: false, REDIRECT_ENABLED: false, USER_AGENT: '', HTTPERROR_ALLOW_ALL: true },
      RETRY_TIMES: 5,
    });
    expect(sources.RETRY_ENABLED).toBe('spider');
  });

  it('may be named with its own number, and is refused with another', () => {
    const path = 'scrapy.downloadermiddlewares.retry.RetryMiddleware';
    expect(load({ DOWNLOADER_MIDDLEWARES: { [path]: 550 } }).settings.RETRY_ENABLED).toBe(true);
    expect(refusal({ DOWNLOADER_MIDDLEWARES: { [path]: 90 } })).toBe(
      `the spider: DOWNLOADER_MIDDLEWARES: ${path} is built in at 550 and cannot be moved to 90: delete it (null switches it off), and give your modules numbers below or above 550`,
    );
  });

  it('that cannot be switched off says what to do', () => {
    expect(refusal({ DOWNLOADER_MIDDLEWARES: { DownloadTimeoutMiddleware: null } })).toContain(
      'DownloadTimeoutMiddleware cannot be switched off: set DOWNLOAD_TIMEOUT',
    );
  });

  it('that crawlnode does not have is off already, and is refused with a number', () => {
    expect(refusal({ DOWNLOADER_MIDDLEWARES: { AjaxCrawlMiddleware: null, 'scrapy_x.Mw': null } })).toBe('');
    expect(refusal({ DOWNLOADER_MIDDLEWARES: { AjaxCrawlMiddleware: 560 } })).toContain('does not exist');
    expect(refusal({ DOWNLOADER_MIDDLEWARES: { 'scrapy_splash.SplashMiddleware': 725 } })).toContain(
      'scrapy_splash.SplashMiddleware does not exist in crawlnode',
    );
  });

  it('that is misspelt is refused with null too', () => {
    expect(refusal({ DOWNLOADER_MIDDLEWARES: { RetryMiddlewar: null } })).toBe(
      'the spider: DOWNLOADER_MIDDLEWARES: RetryMiddlewar does not exist, so null has no effect; did you mean RetryMiddleware?',
    );
    expect(refusal({ ITEM_PIPELINES: { 'scrapy_redis.pipelines.RedisPipline': null } })).toContain(
      'did you mean RedisPipeline?',
    );
  });

  it('has a number from 0 to 1000', () => {
    expect(refusal({ SPIDER_MIDDLEWARES: { './a.ts': 1001 } })).toContain('expected a map of modules');
  });
});

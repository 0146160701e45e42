/** The keys of meta that crawlnode reads are checked where a request is created; the others are the spider's. */
import { expect, test } from 'vitest';
import { Request } from '../../../src/http/message/request.js';

const url = 'https://example.com/';

test.each([
  ['download_timeout', 0.5],
  ['download_timeout', 600],
  ['download_maxsize', 0],
  ['download_fail_on_dataloss', false],
  ['download_slot', 'slow pages'],
  ['max_retry_times', 0],
  ['dont_retry', true],
  ['dont_redirect', false],
  ['handle_httpstatus_list', [404, 410]],
  ['handle_httpstatus_list', []],
  ['handle_httpstatus_all', true],
  ['cookiejar', 7],
  ['cookiejar', 'second user'],
  ['dont_merge_cookies', true],
  ['allow_offsite', true],
  ['autothrottle_dont_adjust_delay', true],
  ['dont_obey_robotstxt', true],
  ['dont_cache', false],
  ['download_timeout', null],
  ['my_own_key', { any: 'thing' }],
])('meta.%s may be %j', (key, value) => {
  expect(new Request(url, { meta: { [key]: value } }).meta).toEqual({ [key]: value });
});

test.each([
  ['download_timeout', '30', 'a number of seconds from 0.001 to 9999'],
  ['download_timeout', 30_000, 'a number of seconds from 0.001 to 9999, and not of milliseconds'],
  ['download_timeout', 0, 'a number of seconds'],
  ['download_timeout', -1, 'a number of seconds'],
  ['download_timeout', 1e9, 'a number of seconds'],
  ['download_maxsize', 1.5, 'a whole number of bytes, 0 for no limit'],
  ['download_fail_on_dataloss', 'no', 'true or false'],
  ['download_slot', '', 'a text of 1 to 255 characters'],
  ['download_slot', 7, 'a text of 1 to 255 characters'],
  ['download_slot', 'a\0b', 'a text of 1 to 255 characters'],
  ['max_retry_times', -1, 'a whole number from 0 to 1000'],
  ['max_retry_times', true, 'a whole number from 0 to 1000'],
  ['dont_retry', 1, 'true or false'],
  ['dont_redirect', 'true', 'true or false'],
  ['handle_httpstatus_list', 404, 'a list of HTTP statuses, such as [404, 410]'],
  ['handle_httpstatus_list', ['404'], 'a list of HTTP statuses'],
  ['handle_httpstatus_list', [404, 20], 'a list of HTTP statuses'],
  ['handle_httpstatus_all', {}, 'true or false'],
  ['cookiejar', { user: 1 }, 'a text of at most 256 characters, or a number'],
  ['dont_merge_cookies', 1, 'true or false'],
  ['allow_offsite', 'yes', 'true or false'],
  ['dont_obey_robotstxt', 'yes', 'true or false'],
  ['dont_cache', 1, 'true or false'],
])('meta.%s must not be %j', (key, value, expects) => {
  const make = () => new Request(url, { meta: { [key]: value } });
  expect(make).toThrow(`meta.${key} is ${JSON.stringify(value)}; it must be ${expects}`);
  expect(() => new Request(url).replace({ meta: { [key]: value } })).toThrow(`meta.${key}`);
});

test.each([
  ['downloadTimeout', 'use meta.download_timeout'],
  ['DOWNLOAD_TIMEOUT', 'use meta.download_timeout'],
  ['dontRetry', 'use meta.dont_retry'],
  ['handleHttpstatusList', 'use meta.handle_httpstatus_list'],
  ['bindaddress', 'the local address'],
  ['referrer_policy', 'the setting REFERRER_POLICY'],
])('meta.%s would have no effect and is refused', (key, instead) => {
  expect(() => new Request(url, { meta: { [key]: 1 } })).toThrow(`meta.${key} has no effect: `);
  expect(() => new Request(url, { meta: { [key]: 1 } })).toThrow(instead);
});

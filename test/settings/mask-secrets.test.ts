/** What is never shown: passwords of Redis however they are written, and the headers that stand for a login. */
import { expect, it } from 'vitest';
import { maskSetting, secretFilter } from '../../src/settings/mask-secrets.js';
import { MASK } from '../../src/settings/mask-urls.js';

it.each([
  ['redis://user:hunter22@host:6379/0', 'redis://user:***@host:6379/0'],
  ['redis://:hunter22@host', 'redis://:***@host'],
  ['redis://:hunter/22?@host', 'redis://:***@host'],
  ['redis:/user:hunter22@host', 'redis:/user:***@host'],
  ['redis:user:hunter22@host', 'redis:user:***@host'],
  ['user:hunter22@host', 'user:***@host'],
  [':hunter22@host:6379', ':***@host:6379'],
  ['redis://host:6379/0', 'redis://host:6379/0'],
  ['unix:///run/redis.sock', 'unix:///run/redis.sock'],
])('of the REDIS_URL %s the password is masked', (url, shown) => {
  expect(maskSetting('REDIS_URL', url)).toBe(shown);
  if (shown.includes(MASK)) expect(secretFilter({ REDIS_URL: url })(`no ${url}`)).not.toMatch(/hunter/);
});

it('of headers and options those are masked that hold secrets', () => {
  const headers = {
    Authorization: 'Bearer abc',
    cookie: 'a=b',
    'X-Api-Key': 'k',
    'Proxy-Authorization': 'x',
  };
  expect(maskSetting('DEFAULT_REQUEST_HEADERS', { ...headers, Accept: '*/*' })).toEqual({
    ...Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])),
    Accept: '*/*',
  });
});

/** From the settings to the address of a Redis: URL, host, sentinels, cluster, TLS. */
import { describe, expect, it } from 'vitest';
import { storeOf } from '../../../src/crawler/project/store-address.js';
import { SettingsError } from '../../../src/errors.js';
import { loadSettings } from '../../../src/settings/sources/load-settings.js';

const store = (cli: Record<string, string>) =>
  storeOf(loadSettings({ cwd: '/nowhere', env: {}, cli }).settings);
const address = (cli: Record<string, string>) => {
  const made = store(cli);
  return made.engine === 'redis' ? made.address : null;
};

describe('where the frontier is', () => {
  it('without an address of Redis it is embedded under JOBDIR', () => {
    expect(store({})).toEqual({ engine: 'embedded', dir: '/nowhere/.crawlnode' });
  });

  it('REDIS_URL goes before REDIS_HOST, and REDIS_PASSWORD and REDIS_DB beside either', () => {
    expect(address({ REDIS_URL: 'redis://h:1/2', REDIS_HOST: 'other', REDIS_PASSWORD: 'p' })).toEqual({
      kind: 'standalone',
      url: 'redis://h:1/2',
      options: { password: 'p' },
    });
    expect(address({ REDIS_HOST: 'h', REDIS_DB: '3', REDIS_USERNAME: 'u', REDIS_TLS: 'true' })).toEqual({
      kind: 'standalone',
      url: null,
      options: { host: 'h', port: 6379, db: 3, username: 'u', tls: {} },
    });
    expect(() => address({ REDIS_URL: 'redis://h:1/staging' })).toThrow(
      'REDIS_URL: /staging is not the number',
    );
    expect(address({ REDIS_URL: 'unix:///run/redis.sock' })).toMatchObject({
      options: { path: '/run/redis.sock' },
    });
  });

  it('sentinels and cluster nodes are host:port, IPv6 in brackets', () => {
    expect(
      address({ REDIS_SENTINELS: 'a:1, [::1]:2', REDIS_SENTINEL_NAME: 'm', REDIS_SENTINEL_PASSWORD: 's' }),
    ).toEqual({
      kind: 'sentinel',
      options: {
        sentinels: [
          { host: 'a', port: 1 },
          { host: '::1', port: 2 },
        ],
        name: 'm',
        sentinelPassword: 's',
      },
    });
    expect(address({ REDIS_CLUSTER_NODES: '[["a", 1], {"host": "b", "port": 2}]' })).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      options: {},
    });
  });

  it('sentinels may stand in REDIS_PARAMS, with the name of their service', () => {
    const params = { sentinels: [['a', 1], 'b:2'], service_name: 'm', socket_timeout: 5 };
    expect(address({ REDIS_PARAMS: JSON.stringify(params) })).toMatchObject({
      kind: 'sentinel',
      options: {
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
        name: 'm',
        commandTimeout: 5_000,
      },
    });
    expect(() => address({ REDIS_PARAMS: '{"sentinels": ["a"]}' })).toThrow(
      'REDIS_PARAMS.sentinels: expected a list of host:port',
    );
    expect(() => address({ REDIS_PARAMS: '{"sentinel_service_name": "m"}' })).toThrow('REDIS_SENTINELS');
  });

  it("REDIS_PARAMS takes redis-py's names, in its units, beside ioredis' own", () => {
    const params = {
      socket_timeout: 2.5,
      socket_connect_timeout: 1,
      retry_on_timeout: true,
      max_connections: 9,
      family: 6,
    };
    expect(address({ REDIS_HOST: 'h', REDIS_PARAMS: JSON.stringify(params) })?.options).toEqual({
      ...{ host: 'h', port: 6379 },
      ...{ commandTimeout: 2500, socketTimeout: 2500, connectTimeout: 1000, family: 6 },
    });
  });

  it('what contradicts itself, or no library knows, is refused without the secret', () => {
    const both = { REDIS_URL: 'redis://h', REDIS_SENTINELS: 'a:1' };
    expect(() => address(both)).toThrow(SettingsError);
    expect(() => address({ REDIS_HOST: 'h', REDIS_PARAMS: '{"socket_timeot": 1}' })).toThrow('socket_timeot');
    expect(() => address({ REDIS_CLUSTER_NODES: 'a:1', REDIS_DB: '1' })).toThrow('REDIS_DB');
    const bad = () => address({ REDIS_URL: 'redis://:se/cret?@h:1' });
    expect(bad).toThrow(SettingsError);
    expect(bad).not.toThrow('cret');
  });
});

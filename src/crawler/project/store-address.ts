/** The address of the store from the REDIS_* settings. REDIS_PARAMS may also use names of redis-py. */
import { readBoundedFile } from '../../bounded-file.js';
import { SettingsError } from '../../errors.js';
import type { RedisAddress, Store } from '../../frontier/open-options.js';
import { parseUrl } from '../../http/url/parse-url.js';
import type { Settings } from '../../settings/schema.js';
import { sentinelAddresses } from '../../settings/sections/redis-connection.js';

/** A list of all authorities has some hundred KB. */
const MAX_TLS_FILE_BYTES = 10 * 1024 * 1024;

/** Redis when a Redis address is set, else the embedded engine under JOBDIR. @throws SettingsError */
export function storeOf(settings: Settings): Store {
  const address = redisAddress(settings);
  return address === null ? { engine: 'embedded', dir: settings.JOBDIR } : { engine: 'redis', address };
}

/** The store as a message names it: its folder, or the address of Redis, whose password the caller masks. */
export function storeInWords(settings: Settings): string {
  if (settings.REDIS_CLUSTER_NODES.length > 0) return 'the Redis Cluster';
  if (sentinelsOf(settings).addresses.length > 0) return 'the Redis of the Sentinels';
  if (settings.REDIS_URL !== null) return settings.REDIS_URL;
  return settings.REDIS_HOST === null
    ? settings.JOBDIR
    : `the Redis at ${settings.REDIS_HOST}:${settings.REDIS_PORT}`;
}

function redisAddress(settings: Settings): RedisAddress | null {
  const { REDIS_URL, REDIS_HOST, REDIS_CLUSTER_NODES } = settings;
  const { addresses, name, params } = sentinelsOf(settings);
  const kinds = [REDIS_URL ?? REDIS_HOST, addresses[0], REDIS_CLUSTER_NODES[0]];
  if (kinds.filter((given) => given !== null && given !== undefined).length > 1) {
    throw new SettingsError(
      'more than one address of Redis is set: keep REDIS_URL (or REDIS_HOST), REDIS_SENTINELS or REDIS_CLUSTER_NODES',
    );
  }
  const options = clientOptions(settings, params);
  if (REDIS_CLUSTER_NODES.length > 0) {
    if (settings.REDIS_DB !== 0) throw new SettingsError('REDIS_DB: a Redis Cluster has database 0 only');
    return { kind: 'cluster', nodes: REDIS_CLUSTER_NODES.map(hostPort), options };
  }
  if (addresses.length > 0) {
    const sentinel = {
      sentinels: addresses.map(hostPort),
      name,
      ...given('sentinelUsername', settings.REDIS_SENTINEL_USERNAME),
      ...given('sentinelPassword', settings.REDIS_SENTINEL_PASSWORD),
    };
    return { kind: 'sentinel', options: { ...options, ...sentinel } };
  }
  if (REDIS_URL !== null) return atUrl(REDIS_URL, options);
  if (REDIS_HOST === null) return null;
  return {
    kind: 'standalone',
    url: null,
    options: { ...options, host: REDIS_HOST, port: settings.REDIS_PORT },
  };
}

interface Sentinels {
  readonly addresses: Settings['REDIS_SENTINELS'];
  /** Of the master. */
  readonly name: string;
  /** REDIS_PARAMS without what says the two others. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** REDIS_PARAMS may hold the Sentinels too, as redis-py and the Sentinel forks of Scrapy-Redis name them. */
function sentinelsOf({ REDIS_SENTINELS, REDIS_SENTINEL_NAME, REDIS_PARAMS }: Settings): Sentinels {
  const { sentinels = [], service_name, sentinel_service_name, ...params } = REDIS_PARAMS;
  const inParams = sentinelAddresses.safeParse(sentinels);
  if (!inParams.success) {
    throw new SettingsError(
      `REDIS_PARAMS.sentinels: expected a list of host:port, got ${JSON.stringify(sentinels)}`,
    );
  }
  const addresses = REDIS_SENTINELS.length > 0 ? REDIS_SENTINELS : inParams.data;
  const name = service_name ?? sentinel_service_name;
  if (name !== undefined && addresses.length === 0) {
    throw new SettingsError(
      'REDIS_PARAMS names a service of Sentinels, and no Sentinels: give them as REDIS_SENTINELS, a list of host:port',
    );
  }
  return { addresses, name: typeof name === 'string' ? name : REDIS_SENTINEL_NAME, params };
}

function atUrl(url: string, options: Record<string, unknown>): RedisAddress {
  if (url.startsWith('unix:')) {
    const path = url.replace(/^unix:(\/\/)?/, '');
    return { kind: 'standalone', url: null, options: { ...options, path } };
  }
  return { kind: 'standalone', url: checkedUrl(url), options };
}

function clientOptions(
  settings: Settings,
  params: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const files = tlsFiles(settings);
  const tls = settings.REDIS_TLS || Object.keys(files).length > 0 ? { tls: files } : {};
  return {
    ...given('username', settings.REDIS_USERNAME),
    ...given('password', settings.REDIS_PASSWORD),
    ...(settings.REDIS_DB === 0 ? {} : { db: settings.REDIS_DB }),
    ...tls,
    ...translateParams(params),
  };
}

function tlsFiles({ REDIS_TLS_CA, REDIS_TLS_CERT, REDIS_TLS_KEY }: Settings): Record<string, string> {
  const read = (name: string, option: string, file: string | null) => {
    if (file === null) return {};
    try {
      return { [option]: readBoundedFile(file, MAX_TLS_FILE_BYTES).toString() };
    } catch (error) {
      throw new SettingsError(`${name}: cannot read ${file}: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    ...read('REDIS_TLS_CA', 'ca', REDIS_TLS_CA),
    ...read('REDIS_TLS_CERT', 'cert', REDIS_TLS_CERT),
    ...read('REDIS_TLS_KEY', 'key', REDIS_TLS_KEY),
  } as Record<string, string>;
}

/** Options of redis-py → options of ioredis. The result is empty where ioredis has no equivalent or does it always. */
const redisPy: Readonly<Record<string, (value: unknown) => Record<string, unknown>>> = {
  socket_timeout: (seconds) => {
    const timeoutMs = milliseconds('socket_timeout', seconds);
    return { commandTimeout: timeoutMs, socketTimeout: timeoutMs };
  },
  socket_connect_timeout: (seconds) => ({ connectTimeout: milliseconds('socket_connect_timeout', seconds) }),
  socket_keepalive: (on) => ({ keepAlive: on === false ? 0 : 10_000 }),
  unix_socket_path: (path) => ({ path }),
  client_name: (name) => ({ connectionName: name }),
  ssl: (on) => (on === true ? { tls: {} } : {}),
  retry_on_timeout: () => ({}),
  max_connections: () => ({}),
  health_check_interval: () => ({}),
  decode_responses: () => ({}),
  encoding: () => ({}),
};

/** @throws SettingsError for an unknown name with underscores, which ioredis does not use. */
function translateParams(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    if (Object.hasOwn(redisPy, name)) Object.assign(options, redisPy[name]!(value));
    else if (name.includes('_')) {
      throw new SettingsError(
        `REDIS_PARAMS: unknown option ${name}; the names of ioredis are taken, and of redis-py ${Object.keys(redisPy).join(', ')}`,
      );
    } else options[name] = value;
  }
  return options;
}

function milliseconds(name: string, seconds: unknown): number {
  if (typeof seconds === 'number' && seconds > 0) return Math.round(seconds * 1000);
  throw new SettingsError(
    `REDIS_PARAMS.${name}: expected a number of seconds above 0, got ${JSON.stringify(seconds)}`,
  );
}

function hostPort(address: Settings['REDIS_SENTINELS'][number]): { host: string; port: number } {
  if (Array.isArray(address)) return { host: address[0], port: address[1] };
  if (typeof address !== 'string') return address as { host: string; port: number };
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

/** Checked here, because ioredis takes an invalid URL for the path of a socket. */
function checkedUrl(url: string): string {
  const parsed = parseUrl(url);
  if (parsed !== null && !/^\/?\d*$/.test(parsed.pathname)) {
    throw new SettingsError(`REDIS_URL: ${parsed.pathname} is not the number of a database`);
  }
  if (parsed !== null) return url;
  throw new SettingsError(
    `REDIS_URL: not a valid URL; percent-encode what is special in user name and password, or set REDIS_PASSWORD`,
  );
}

const given = (name: string, value: string | null) => (value === null ? {} : { [name]: value });

/** Settings: the address of Redis. The crawl is embedded when none of REDIS_URL, REDIS_HOST, sentinels or cluster nodes is set. */
import * as z from 'zod';
import { flag, integer, list, map, optionalPath, optionalText, text, withoutEffect } from '../kinds.js';

const address = z.union([
  z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^:[\]\s]+):\d{1,5}$/),
  z.tuple([z.string().min(1), z.int().min(1).max(65535)]),
  z.strictObject({ host: z.string().min(1), port: z.int().min(1).max(65535) }),
]);
/** Of REDIS_SENTINELS, and of `sentinels` in REDIS_PARAMS. */
export const sentinelAddresses = z.array(address);

/** Options of ioredis 5, and those of redis-py that have no underscore. */
export const redisOptionNames: readonly string[] = [
  ...[
    'host',
    'port',
    'path',
    'db',
    'username',
    'password',
    'family',
    'tls',
    'ssl',
    'encoding',
    'name',
    'role',
  ],
  ...['connectTimeout', 'commandTimeout', 'socketTimeout', 'disconnectTimeout', 'blockingTimeout'],
  ...['blockingTimeoutGrace', 'keepAlive', 'noDelay', 'connectionName', 'clientInfoTag', 'disableClientInfo'],
  ...['retryStrategy', 'reconnectOnError', 'maxRetriesPerRequest', 'maxLoadingRetryTime', 'lazyConnect'],
  ...['enableReadyCheck', 'enableOfflineQueue', 'autoResubscribe', 'autoResendUnfulfilledCommands'],
  ...['enableAutoPipelining', 'autoPipeliningIgnoredCommands', 'readOnly', 'monitor', 'stringNumbers'],
  ...[
    'keyPrefix',
    'showFriendlyErrorStack',
    'scripts',
    'commandQueue',
    'offlineQueue',
    'Connector',
    'natMap',
  ],
  ...['sentinels', 'sentinelUsername', 'sentinelPassword', 'sentinelTLS', 'enableTLSForSentinelMode'],
  ...[
    'sentinelRetryStrategy',
    'sentinelReconnectStrategy',
    'sentinelMaxConnections',
    'sentinelCommandTimeout',
  ],
  ...['updateSentinels', 'failoverDetector', 'preferredSlaves', 'redisOptions', 'clusterRetryStrategy'],
  ...[
    'clusterNodeRetryStrategy',
    'scaleReads',
    'maxRedirections',
    'retryDelayOnFailover',
    'retryDelayOnMoved',
  ],
  ...['retryDelayOnClusterDown', 'retryDelayOnTryAgain', 'slotsRefreshTimeout', 'slotsRefreshInterval'],
  ...['dnsLookup', 'resolveSrv', 'useSRVRecords', 'shardedSubscribers', 'rootNodeRetryStrategy'],
];

export const redisSettings = {
  /**
   * Address of Redis: redis://user:password@host:6379/0, or rediss:// for TLS. It takes precedence over
   * REDIS_HOST. Default: null.
   */
  REDIS_URL: optionalText({ pattern: /^(rediss?|unix):\/\//, expects: 'redis://…, rediss://… or unix://…' }),
  /**
   * Host of Redis. Without this or another address of Redis, the embedded engine under JOBDIR is used.
   * Default: null.
   */
  REDIS_HOST: optionalText(),
  /** Port of Redis, used with REDIS_HOST. Default: 6379. */
  REDIS_PORT: integer({ default: 6379, min: 1, max: 65535 }),
  /** User of the Redis ACL. Default: null. */
  REDIS_USERNAME: optionalText(),
  /** Password of Redis; never shown. Default: null. */
  REDIS_PASSWORD: optionalText({ secret: true }),
  /** Number of the Redis database. Default: 0. */
  REDIS_DB: integer({ default: 0, max: 1_000_000 }),
  /**
   * Options of the Redis client (ioredis). The names of redis-py are accepted too: socket_timeout and
   * socket_connect_timeout in seconds, retry_on_timeout, max_connections, password, username, db. Default:
   * {}.
   */
  REDIS_PARAMS: map(z.unknown(), { default: {}, expects: 'a map of options' }),
  /** Sentinels as host:port; the master is REDIS_SENTINEL_NAME. Default: []. */
  REDIS_SENTINELS: list(address, { default: [], expects: 'a list of host:port' }),
  /** Name of the master that the sentinels watch. Default: "mymaster". */
  REDIS_SENTINEL_NAME: text({ default: 'mymaster' }),
  /** User for the sentinels themselves. Default: null. */
  REDIS_SENTINEL_USERNAME: optionalText(),
  /** Password of the sentinels; never shown. Default: null. */
  REDIS_SENTINEL_PASSWORD: optionalText({ secret: true }),
  /** Some nodes of a Redis Cluster as host:port; the others are discovered. Default: []. */
  REDIS_CLUSTER_NODES: list(address, { default: [], expects: 'a list of host:port' }),
  /**
   * Use TLS with REDIS_HOST, sentinels or a cluster. A REDIS_URL with rediss:// does not need it. Default:
   * false.
   */
  REDIS_TLS: flag({ default: false }),
  /** File with the certificate authority (PEM) of Redis. Default: null. */
  REDIS_TLS_CA: optionalPath(),
  /** File with the certificate (PEM) of this client. Default: null. */
  REDIS_TLS_CERT: optionalPath(),
  /** File with the key (PEM) of REDIS_TLS_CERT. Default: null. */
  REDIS_TLS_KEY: optionalPath(),
  /**
   * How long the first connection is attempted. After that the command ends with exit code 4. Unit: seconds.
   * Default: 10.
   */
  REDIS_CONNECT_TIMEOUT: integer({ default: 10, min: 1, unit: 'seconds' }),
  /**
   * How many replicas must have a write before a page or a request counts as committed. Each call then takes
   * as long as replication. With fewer replicas the crawl waits. Unit: replicas. Default: 0.
   */
  REDIS_WAIT_REPLICAS: integer({ default: 0, min: 0, unit: 'replicas' }),
  /**
   * Accept a Redis server with the maxmemory-policy allkeys-*, which deletes parts of the crawl when its
   * memory is full. Default: false.
   */
  REDIS_ALLOW_EVICTION: flag({ default: false }),
  /** It has no effect: everything is UTF-8. Default: "utf-8". */
  REDIS_ENCODING: withoutEffect('utf-8', 'everything is UTF-8'),
};

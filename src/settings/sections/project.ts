/** Settings: the project, the job, and the lifetime of a node. */

import * as z from 'zod';
import { FIRST_NODE_TIMEOUT_S } from '../first-tunables.js';
import {
  choice,
  filePath,
  integer,
  list,
  moduleOrObject,
  optionalInteger,
  optionalPath,
  optionalText,
  projectPath,
  text,
} from '../kinds.js';
import { isSchema } from '../own/own-value.js';

/** Names of spiders and jobs, which become parts of key names. */
export const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** Scrapy's names of the log levels, the lowest first. */
export const logLevels = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;
const scrapyLevels: Record<string, string> = { critical: 'fatal', warning: 'warn' };

export const projectSettings = {
  /**
   * Folders with spiders: TypeScript or JavaScript modules (ES modules) that default-export a class. Default:
   * ["spiders"].
   */
  SPIDER_MODULES: list(z.string().min(1), {
    default: ['spiders'],
    expects: 'a list of folders',
    resolveEach: (folder, dir) => projectPath(dir, folder),
  }),
  /**
   * Module whose default export, a zod object, declares the settings of the project itself: ./settings.ts. A
   * program may give the zod object. Default: null.
   */
  SETTINGS_SCHEMA: moduleOrObject(isSchema),
  /** Name of an isolated crawl of a spider: every key ends in "@JOB". Default: null. */
  JOB: {
    ...optionalText({
      pattern: namePattern,
      expects:
        'a name of 1 to 64 letters, digits, dots, dashes and underscores (the crawl without a job: leave it out)',
    }),
    // A job may be named "none". An empty text is refused: a variable of a script that is not set must not mean the crawl without a job.
    fromText: (text: string) => text,
  },
  /** Folder of the embedded engine, shared by the processes of one machine. Default: ".crawlnode". */
  JOBDIR: filePath({ default: '.crawlnode' }),
  /**
   * Label of this node in stats and logs. Several nodes may have the same. Null stands for host and process
   * id. Default: null.
   */
  NODE_ID: optionalText({
    pattern: namePattern,
    expects: 'a name of 1 to 64 letters, digits, dots, dashes and underscores, or null',
    isCommonName: true,
  }),
  /**
   * A node without a heartbeat for this long counts as dead, and others take over its requests. Unit:
   * seconds. Default: 30.
   */
  NODE_TIMEOUT: integer({ default: FIRST_NODE_TIMEOUT_S, min: 1, unit: 'seconds' }),
  /** Time between two heartbeats of a node. Unit: seconds. Default: 5. */
  HEARTBEAT_INTERVAL: integer({ default: 5, min: 1, unit: 'seconds' }),
  /**
   * A node whose main loop is blocked for this long, for example by a callback that never returns, sends no
   * more heartbeats. It then counts as dead after NODE_TIMEOUT, and its process exits after three times
   * NODE_TIMEOUT. Unit: seconds. Default: 120.
   */
  MAIN_LOOP_TIMEOUT: integer({ default: 120, min: 1, unit: 'seconds' }),
  /**
   * How long a node with --exit-when-done waits for the first seed when nothing is pending. Unit: seconds.
   * Default: 10.
   */
  START_TIMEOUT: integer({ default: 10, unit: 'seconds' }),
  /**
   * How long a node that leaves may take to finish its pages. Unfinished requests then go back to the queue.
   * Unit: seconds. Default: 25.
   */
  SHUTDOWN_TIMEOUT: integer({ default: 25, unit: 'seconds' }),
  /**
   * How long a node waits for a store that does not answer, a full disk, a feed file that cannot be written
   * or a pipeline that does not accept committed items, before it ends with exit code 1 or 4. Nothing is
   * lost. 0 is without limit. Null stands for 600 with --exit-when-done and in programs, and for 0 otherwise.
   * Unit: seconds. Default: null.
   */
  WAIT_TIMEOUT: optionalInteger({ unit: 'seconds' }),
  /**
   * Lowest level that is logged, by the names of Scrapy (DEBUG, INFO, WARNING, ERROR, CRITICAL) or pino, in
   * upper or lower case. Default: "info".
   */
  LOG_LEVEL: choice({
    of: levels,
    offered: logLevels,
    default: 'info',
    expects: 'DEBUG, INFO, WARNING, ERROR or CRITICAL (or trace, debug, info, warn, error, fatal, silent)',
    normalize: (level) => scrapyLevels[level.toLowerCase()] ?? level.toLowerCase(),
    isCommonName: true,
  }),
  /** File that the log is appended to, instead of stderr. Default: null. */
  LOG_FILE: optionalPath(),
  /**
   * Format of the log: text, json (one JSON object a line), or auto: text on a terminal, json in a pipe and
   * in a file. Default: "auto".
   */
  LOG_FORMAT: choice({
    of: ['auto', 'text', 'json'],
    default: 'auto',
    expects: "auto, text or json (Scrapy's LOG_FORMAT with % has no successor: delete it)",
    isCommonName: true,
  }),
  /**
   * Port at which a crawl command serves /metrics (for Prometheus), /healthz and /readyz; a taken one makes it try the next
   * 31. 0 is off. Default: 0.
   */
  METRICS_PORT: integer({ default: 0, max: 65_535, isCommonName: true }),
  /**
   * Address at which METRICS_PORT is served. Whoever reaches another address than a loopback one may read the metrics: they
   * hold no secrets and no URLs, but domains and counts. Default: "127.0.0.1".
   */
  METRICS_HOST: text({ default: '127.0.0.1', isCommonName: true }),
  /** The metrics of `dashboard` name so many domains, those with most pending requests. Default: 0. */
  METRICS_DOMAINS: integer({ default: 0, max: 1_000 }),
  /**
   * Time between two log lines of progress, when no terminal shows the progress. 0 is never. Unit: seconds.
   * Default: 60.
   */
  LOGSTATS_INTERVAL: integer({ default: 60, unit: 'seconds' }),
  /**
   * How long the history of a crawl is kept, a point for each minute. The last hour has a point for every ten
   * seconds. Unit: seconds. Default: 86400.
   */
  STATS_HISTORY: integer({ default: 86_400, min: 3_600, max: 604_800, unit: 'seconds' }),
  /** The most nodes that `wantedNodes` of `stats --json` asks for, however much work there is. Default: 100. */
  SCALE_MAX: integer({ default: 100, min: 1 }),
};

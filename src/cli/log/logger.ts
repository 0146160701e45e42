/**
 * The log: pino's JSON lines, with node, spider and job, or short lines of text (LOG_FORMAT). Secrets are masked in both, and no
 * control character of a crawled page reaches a terminal.
 */
import { pino } from 'pino';
import type { Logger } from '../../log.js';
import type { Settings } from '../../settings/schema.js';
import { type Context, logIsJson, note } from '../context.js';
import { type FatalFields, fillCrawlArguments } from '../messages/error-report.js';
import { hasColour } from '../terminal/colour.js';
import { safeJson } from '../terminal/printable.js';
import { openLogFile } from './log-file.js';
import { readableLine } from './readable-line.js';

export interface OpenLogger {
  readonly log: Logger;
  /** What the process ends with. */
  fatal(fields: FatalFields, message: string): void;
  /** Flush and close the file; nothing for stderr. */
  close(): Promise<void>;
}

/** Where lines go instead of stderr, such as above a progress display. */
export type Sink = (line: string) => void;

/**
 * @param fields of every line. @param shows what of them a terminal shows
 * @throws CrawlnodeError when LOG_FILE cannot be written
 */
export async function createLogger(
  context: Context,
  settings: Pick<Settings, 'LOG_LEVEL' | 'LOG_FILE'>,
  fields: Readonly<Record<string, unknown>>,
  sink: Sink = (line) => context.stderr.write(line),
  shows: { readonly node: boolean } = { node: true },
): Promise<OpenLogger> {
  const output =
    settings.LOG_FILE === null ? terminal(context, sink, shows) : await logFile(settings.LOG_FILE, context);
  const verbose = settings.LOG_LEVEL === 'debug' || settings.LOG_LEVEL === 'trace';
  const log = pino(
    {
      level: settings.LOG_LEVEL,
      base: { ...fields },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }), log: withoutClashes(fields) },
      serializers: {
        err: (error) => describeError(error, verbose),
        error: (error) => describeError(error, verbose),
      },
    },
    { write: output.write },
  );
  return { log, fatal: (fields, message) => log.fatal(fields, message), close: output.close };
}

function terminal(context: Context, sink: Sink, shows: { readonly node: boolean }) {
  const { env, stderr } = context;
  const format = logIsJson(context)
    ? safeJson
    : readableLine(hasColour(env, stderr), {
        ...shows,
        columns: () => (stderr.isTTY ? stderr.columns : null),
      });
  return {
    write: (line: string) => sink(format(finished(context, line))),
    close: async () => {},
  };
}

async function logFile(file: string, context: Context) {
  const log = await openLogFile(file, (text) => note(context, text));
  const format = context.logFormat === 'text' ? readableLine(false) : safeJson;
  return { write: (line: string) => log.write(format(finished(context, line))), close: () => log.close() };
}

/** A line of JSON without secrets, whose commands name the crawl. */
function finished(context: Context, line: string): string {
  const crawl = context.crawl === null ? null : JSON.stringify(context.crawl).slice(1, -1);
  return context.mask(fillCrawlArguments(line, crawl));
}

/**
 * Rename fields that every line has already, such as `node` and `msg`. They would be twice in the JSON, and parsers
 * disagree about which one counts. The new name ends in an underscore.
 */
function withoutClashes(
  base: Readonly<Record<string, unknown>>,
): (fields: Record<string, unknown>) => Record<string, unknown> {
  const reserved = new Set([...Object.keys(base), 'level', 'time', 'msg']);
  return (fields) => {
    for (const name in fields) {
      if (!reserved.has(name)) continue;
      return Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [reserved.has(key) ? `${key}_` : key, value]),
      );
    }
    return fields;
  };
}

function describeError(error: unknown, verbose: boolean): unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as { code?: unknown }).code;
  return {
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(verbose ? { stack: error.stack } : {}),
  };
}

/** A logger with the argument order of pino: fields first, then the message. */
export interface Logger {
  /** What helps to find a mistake. */
  debug(fields: object, message: string): void;
  /** What happens in the crawl. */
  info(fields: object, message: string): void;
  /** What the user may have to look at. */
  warn(fields: object, message: string): void;
  /** What went wrong. */
  error(fields: object, message: string): void;
}

/** A logger without output, for one-shot commands and tests. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The log of a spider: a message, or fields and a message. */
export interface SpiderLogger {
  /** Shown with `-L DEBUG` only. */
  debug(message: string): void;
  debug(fields: object, message: string): void;
  /** Shown by default. */
  info(message: string): void;
  info(fields: object, message: string): void;
  /** Something to look at. */
  warn(message: string): void;
  warn(fields: object, message: string): void;
  /** Something went wrong. */
  error(message: string): void;
  error(fields: object, message: string): void;
}

/** A log that takes a message alone, too. */
export function spiderLogger(log: Logger): SpiderLogger {
  const at =
    (level: keyof Logger) =>
    (...given: readonly [string] | readonly [object, string]): void => {
      if (given.length === 1) log[level]({}, given[0]);
      else log[level](given[0], given[1]);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

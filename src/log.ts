/** A logger with the argument order of pino: fields first, then the message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A logger without output, for one-shot commands and tests. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

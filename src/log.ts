/** A logger, as pino has it: fields first, then a message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A logger that says nothing: for one-shot commands and for code under test. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Wraps the logger of a program, so that its errors neither fail a page nor end the process. */
import { UsageError } from '../../errors.js';
import type { Logger } from '../../log.js';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** A logger that never throws. @throws UsageError for one that lacks a method */
export function sturdyLogger(log: Logger): Logger {
  const missing = levels.filter((level) => typeof log?.[level] !== 'function');
  if (missing.length > 0) {
    throw new UsageError(
      `the option log lacks the method ${missing.join(', ')}: a logger has debug, info, warn and error, as pino does`,
    );
  }
  const at =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      try {
        log[level](fields, message);
      } catch {
        // The author notices the error by missing lines in the log; ending the crawl would be worse.
      }
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The logger of a program, made harmless: an error in it must not fail a page or end the process. */
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
        // Its author finds it sooner by what is missing in the log than by a crawl that ended.
      }
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

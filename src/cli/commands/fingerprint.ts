/** `crawlnode fingerprint URL`: the fingerprint in all three formulas, and the canonical URL that they hash. */
import type { Command } from 'commander';
import { fingerprint } from '../../http/message/fingerprint.js';
import { canonicalizeUrl } from '../../http/url/canonicalize-url.js';
import { checkUrl } from '../../http/url/http-url.js';
import type { CliCommand } from '../command.js';
import { print, printJson } from '../context.js';
import { printable } from '../terminal/printable.js';

const help = `
A request is identified by its fingerprint: the SHA-1 of its method, canonical URL and body. REQUEST_FINGERPRINTER chooses
the formula. Each formula has the name of the Python package that computes the same fingerprints.

Examples:
  crawlnode fingerprint 'https://example.com/?b=2&a=1'
  crawlnode fingerprint https://example.com/search -X POST -d 'q=shoes'`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<url>', 'an http or https URL')
      .option('-X, --method <method>', 'the method of the request', 'GET')
      .option('-d, --data <body>', 'the body of the request')
      .addHelpText('after', help),
  run: async (context, [url = ''], options) => {
    const method = String(options.method).toUpperCase();
    const body = typeof options.data === 'string' ? Buffer.from(options.data) : null;
    // Throws for a URL that cannot be requested.
    const safe = checkUrl(url);
    const of = (algorithm: 'scrapy-redis' | 'scrapy' | 'scrapy-2.6') =>
      fingerprint({ url: safe, method, body }, { algorithm });
    const result = {
      url: safe,
      canonical: canonicalizeUrl(url),
      fingerprints: {
        'scrapy-redis': of('scrapy-redis'),
        scrapy: of('scrapy'),
        'scrapy-2.6': of('scrapy-2.6'),
      },
    };
    if (context.globals.json) printJson(context, result);
    else {
      const rows = Object.entries({ canonical: result.canonical, ...result.fingerprints });
      for (const [name, value] of rows) print(context, `${name.padEnd(12)}  ${printable(value)}`);
    }
    return 0;
  },
};

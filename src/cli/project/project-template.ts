/** The files of a new project, as `crawlnode init` writes them. */

/** @param name the project name, for its README. @returns a map of path in the project → text. */
export function projectTemplate(name: string): Readonly<Record<string, string>> {
  return {
    'crawlnode.yaml': settings,
    'spiders/quotes.ts': spider,
    'items.ts': items,
    'package.json': `${JSON.stringify({ name: packageName(name), private: true, type: 'module' }, null, 2)}\n`,
    'tsconfig.json': tsconfig,
    '.gitignore': gitignore,
    'README.md': readme(name),
  };
}

/** Files that may already exist in the folder. They are not changed. */
export const mayExist: ReadonlySet<string> = new Set(['package.json', 'tsconfig.json', '.gitignore']);

const settings = `# Settings of this project. "crawlnode settings" prints all settings with their values.
# The same names can be set in the environment, with -s NAME=VALUE, and in the customSettings of a spider. Times are in seconds.

# The name of your crawler, and an address where the owners of a site can reach you.
#USER_AGENT: 'my-crawler (+https://example.com/about-my-crawler)'

# Seconds between two requests to one site. It applies to all nodes together.
DOWNLOAD_DELAY: 0.25

# Concurrent requests of each node.
CONCURRENT_REQUESTS: 16

# Concurrent requests to one site. It applies to all nodes together.
CONCURRENT_REQUESTS_PER_DOMAIN: 8

# Without REDIS_URL, crawls are stored in .crawlnode/, and all nodes must run on this machine. With Redis, nodes on several
# machines can share a crawl.
#REDIS_URL: redis://127.0.0.1:6379/0
`;

const spider = `/**
 * Scrapes the quotes of quotes.toscrape.com:
 *
 *     crawlnode crawl quotes -o quotes.jsonl --exit-when-done
 */
import { type Response, Spider } from 'crawlnode';
import type { Quote } from '../items.js';

export default class Quotes extends Spider {
  // The name of the spider in commands. It must be unique in the project.
  name = 'quotes';

  // The first requests. "-a start=URL" on the command line sets this.args.start.
  startUrls = [this.args.start ?? 'https://quotes.toscrape.com/'];

  // Called with every downloaded page. It yields items, and requests for other pages.
  *parse(response: Response) {
    for (const quote of response.css('div.quote')) {
      yield {
        url: response.url,
        text: quote.css('span.text::text').get(),
        author: quote.css('small.author::text').get(),
        tags: quote.css('a.tag::text').getAll(),
      } satisfies Quote;
    }

    // A URL is fetched only once, even if several pages link to it.
    yield* response.followAll('li.next a', this.parse);
  }
}
`;

const items = `/** What the spiders of this project scrape. */
export interface Quote {
  readonly url: string;
  readonly text: string | null;
  readonly author: string | null;
  readonly tags: readonly string[];
}
`;

const tsconfig = `{
  "compilerOptions": {
    "module": "nodenext",
    "target": "es2023",
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true
  },
  "include": ["spiders", "items.ts"]
}
`;

const gitignore = `node_modules/
.crawlnode/
*.jsonl
*.log
`;

function readme(name: string): string {
  return `# ${name}

A crawlnode project.

| | |
|---|---|
| \`spiders/\` | one module for each spider. TypeScript runs without a build step |
| \`items.ts\` | the TypeScript types of the items |
| \`crawlnode.yaml\` | the settings of the project |
| \`.crawlnode/\` | the stored crawls, unless REDIS_URL is set |

\`\`\`sh
crawlnode crawl quotes -o quotes.jsonl --exit-when-done    # crawl; after Ctrl-C the same command continues
crawlnode stats quotes --watch                             # show the progress, in another terminal
crawlnode failed quotes list                               # failed requests, with the reasons
crawlnode inspect quotes URL                               # the state of one request
crawlnode doctor                                           # look for problems
crawlnode reset quotes                                     # delete the crawl, to start again
\`\`\`

While you write a spider, \`crawlnode parse quotes URL\` shows the items and requests that it yields for one page.

Your editor finds the types of crawlnode if it is installed in this project. It is not on npm yet: run
\`npm install --save-dev PATH\`. PATH is a checkout of crawlnode (after \`npm install\` there), or the tarball that
\`npm pack\` creates there.

## Every night

A script for cron or Airflow. It stops at the first command that fails, and exits with its exit code:

\`\`\`sh
set -e
crawlnode reset quotes --yes
crawlnode crawl quotes -O quotes.new.jsonl --exit-when-done --min-items 50 --max-failed 5
crawlnode doctor quotes --deep
mv quotes.new.jsonl quotes.jsonl
\`\`\`

\`crawl\` fails if all its nodes together gave fewer than 50 items, or if more than 5 requests failed. Choose limits that a
complete crawl meets. \`quotes.jsonl\` is replaced only if all commands succeeded.
`;
}

/** A valid npm package name. */
function packageName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'crawl' : plain;
}

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

const settings = `# Settings of this project; "crawlnode settings" prints what is in effect, all of it with its defaults.
# The same names work in the environment, as -s NAME=VALUE, and in a spider's customSettings. Times are in seconds.

# Who you are, for the people who run the sites. Give an address where they can reach you.
#USER_AGENT: 'my-crawler (+https://example.com/about-my-crawler)'

# Seconds between two requests to one site, over all nodes together.
DOWNLOAD_DELAY: 0.25

# Requests a node works on at once, and how many of them at one site, over all nodes together.
CONCURRENT_REQUESTS: 16
CONCURRENT_REQUESTS_PER_DOMAIN: 8

# Without Redis, crawls are stored in .crawlnode/ and shared by the processes of this machine. With Redis, nodes on any
# number of machines work on one crawl.
#REDIS_URL: redis://127.0.0.1:6379/0
`;

const spider = `/**
 * Quotes, page after page:
 *
 *     crawlnode crawl quotes -o quotes.jsonl --exit-when-done
 */
import { type Response, Spider } from 'crawlnode';
import type { Quote } from '../items.js';

export default class Quotes extends Spider {
  // The name that commands use; it is unique in the project.
  name = 'quotes';

  // The first requests. "-a start=URL" on the command line arrives in this.args.
  startUrls = [this.args.start ?? 'https://quotes.toscrape.com/'];

  // Every downloaded page comes here. Yield an item to keep it, and a request to have another page fetched.
  *parse(response: Response) {
    for (const quote of response.css('div.quote')) {
      yield {
        url: response.url,
        text: quote.css('span.text::text').get(),
        author: quote.css('small.author::text').get(),
        tags: quote.css('a.tag::text').getAll(),
      } satisfies Quote;
    }

    // A URL is fetched once, so the same link may be followed from many pages.
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
| \`spiders/\` | a module for each spider: what to fetch, and what to take from it; TypeScript runs as it is |
| \`items.ts\` | what the items look like |
| \`crawlnode.yaml\` | the settings of the project |
| \`.crawlnode/\` | the stored crawls, unless REDIS_URL is set |

\`\`\`sh
crawlnode crawl quotes -o quotes.jsonl --exit-when-done    # crawl; Ctrl-C stops it, the same command continues
crawlnode stats quotes --watch                             # its progress, from another terminal
crawlnode failed quotes list                               # what could not be fetched, and why
crawlnode inspect quotes URL                               # the state of one page
crawlnode doctor                                           # look for problems
crawlnode reset quotes                                     # delete the crawl, to start again
\`\`\`

While writing a spider, \`crawlnode parse quotes URL\` shows what it makes of one page.

Types in the editor come from crawlnode as a package of this project. It is not on npm yet: run
\`npm install --save-dev PATH\`, where PATH is a checkout of crawlnode (built with \`npm install\` there), or the file that
\`npm pack\` makes in it.

## Every night

A script for cron or Airflow. It stops at the first command that fails, with an exit code other than 0:

\`\`\`sh
set -e
crawlnode reset quotes --yes
crawlnode crawl quotes -O quotes.new.jsonl --exit-when-done --min-items 50 --max-failed 5
crawlnode doctor quotes --deep
mv quotes.new.jsonl quotes.jsonl
\`\`\`

\`crawl\` fails when all its nodes together gave fewer than 50 items, or when more than 5 requests failed: choose numbers
that a good night reaches. \`quotes.jsonl\` is last night's result until a good one takes its place.
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

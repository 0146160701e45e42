/** The settings, the configuration of tools and the README of a new project, as `crawlnode init` writes them. */

export const settings = `# Settings of this project. "crawlnode settings" prints all settings with their values.
# The same names can be set in the environment, with -s NAME=VALUE, and in the customSettings of a spider. Times are in seconds.

# The name of your crawler, and an address where the owners of a site can reach you.
#USER_AGENT: 'my-crawler (+https://example.com/about-my-crawler)'

# Seconds between two requests to one site. It applies to all nodes together.
DOWNLOAD_DELAY: 0.25

# Concurrent requests of each node.
CONCURRENT_REQUESTS: 16

# Concurrent requests to one site. It applies to all nodes together.
CONCURRENT_REQUESTS_PER_DOMAIN: 8

# Modules that change, drop or store items, by ascending numbers. RedisPipeline keeps the items in the store, where
# "crawlnode items quotes list" shows them. Without it they are only in the files of -o.
ITEM_PIPELINES:
  ./pipelines/clean.ts: 200
  RedisPipeline: 300

# Without REDIS_URL, crawls are stored in .crawlnode/, and all nodes must run on this machine. With Redis, nodes on several
# machines can share a crawl.
#REDIS_URL: redis://127.0.0.1:6379/0
`;

export const tsconfig = `{
  "compilerOptions": {
    "module": "nodenext",
    "target": "es2023",
    "lib": ["es2023"],
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "noEmit": true,
    "skipLibCheck": true
  }
}
`;

export const biome = `{
  "files": { "includes": ["**/*.ts", "**/*.json"] },
  "formatter": { "indentStyle": "space", "lineWidth": 110 },
  "javascript": { "formatter": { "quoteStyle": "single" } }
}
`;

export const gitignore = `node_modules/
.crawlnode/
*.jsonl
*.log
*.lock
`;

export function readme(name: string): string {
  return `# ${name}

A crawlnode project.

| | |
|---|---|
| \`spiders/\` | one module for each spider. TypeScript runs without a build step |
| \`items.ts\` | the schema of the items, and their TypeScript type |
| \`pipelines/\` | modules that every item passes; \`ITEM_PIPELINES\` in \`crawlnode.yaml\` names them |
| \`test/\` | tests of spiders on saved pages |
| \`crawlnode.yaml\` | the settings of the project |
| \`nightly.sh\` | crawls every night, and says when a night was bad |
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

## Tests, types and lint

Crawling needs no installation in the project. The tests and your editor do. crawlnode is not on npm yet: run
\`npm install PATH\`, which also installs the other tools. PATH is the tarball that \`npm pack\` creates in a checkout of crawlnode.

\`\`\`sh
npm test          # the tests in test/, with the test runner of Node
npm run types     # check the types
npm run lint      # check the code and its format with Biome; "npm run format" corrects it
\`\`\`

## Every night

\`nightly.sh\` crawls from scratch, and replaces \`quotes.jsonl\` only if the crawl was good: it finished, and its result passes the
*gates* in the script. Otherwise it sends an alert and exits with another code than 0. Adapt the gates to your spider, and call
the script from cron, systemd or Airflow:

\`\`\`cron
PATH=/usr/local/bin:/usr/bin:/bin
15 3 * * * /srv/${name}/nightly.sh quotes
\`\`\`
`;
}

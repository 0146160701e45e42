/**
 * Guards that are removed one at a time, and the row that must break then.
 * @typedef { name, edits: [{ file, find, replace }], row, engine, fault }: `file` in src/; `find` must be in it exactly once;
 * `fault`: a part of the description that tells the row from others of its name
 */
const lua = 'frontier/redis/lua/';
const sql = 'frontier/embedded/';

export const mutants = [
  {
    name: 'a settle needs its lease (Redis)',
    edits: [
      {
        file: `${lua}leases/settle.lua`,
        find: 'if not batch.isLive or not isOurs(crawl, page, held) then',
        replace: 'if not held then',
      },
    ],
    ...{ row: 'R36', engine: 'redis' },
  },
  {
    name: 'a settle needs its lease (embedded)',
    edits: [
      {
        file: `${sql}leases/settle.ts`,
        find: 'tx.nodes.findAlive(number)',
        replace: '(tx.nodes.findAlive(number) ?? tx.nodes.all()[0] ?? null)',
      },
      {
        file: `${sql}leases/lease-records.ts`,
        find: /AND state = 'leased' AND node = \$\{node\}(?=`)/,
        replace: "AND state = 'leased'",
      },
      {
        file: `${sql}leases/lease-records.ts`,
        find: '&& tokenText(node, row.token) === token ?',
        replace: '?',
      },
    ],
    ...{ row: 'R36', engine: 'embedded' },
  },
  {
    name: 'the first answer to a call that is sent again',
    edits: [
      {
        file: `${lua}base/answers.lua`,
        find: /(?<=function answers\.keep\(crawl, answer\)\n)/,
        replace: '  if true then return end\n',
      },
    ],
    ...{ row: 'R10', engine: 'redis', fault: 'replies in 100' },
  },
  {
    name: 'the first answer to a settle that is sent again',
    edits: [
      {
        file: `${lua}base/answers.lua`,
        find: "lists.send('HSET', crawl.keys.answers, kept)",
        replace: '',
      },
    ],
    ...{ row: 'R10', engine: 'redis', fault: 'replies in 100' },
  },
  {
    name: "the crawl's clock does not go back (Redis)",
    edits: [{ file: `${lua}base/clock.lua`, find: 'if nowMs < last then', replace: 'if false then' }],
    ...{ row: 'R25', engine: 'redis', fault: 'back' },
  },
  {
    name: "the crawl's clock does not go back (embedded)",
    edits: [{ file: `${sql}base/crawl-clock.ts`, find: 'if (atMs < lastMs)', replace: 'if (atMs < 0)' }],
    ...{ row: 'R25', engine: 'embedded', fault: 'back' },
  },
  {
    name: 'fingerprints are compared with those written (Redis)',
    edits: [
      { file: `${lua}dupefilters/marks.lua`, find: 'if size < written then', replace: 'if false then' },
    ],
    ...{ row: 'R24', engine: 'redis', fault: 'the dupefilter' },
  },
  {
    name: 'fingerprints are compared with those written (embedded)',
    edits: [
      {
        file: `${sql}dupefilters/seen-index.ts`,
        find: '&& open.isEmpty())',
        replace: '&& false)',
      },
    ],
    ...{ row: 'R24', engine: 'embedded', fault: 'the dupefilter' },
  },
  {
    name: 'links that a page has pushed early are known (Redis)',
    edits: [
      {
        file: `${lua}requests/acceptance.lua`,
        find: 'earlyLinks.known(crawl, requests, page, isEarly)',
        replace: 'nil',
      },
    ],
    ...{ row: 'R37', engine: 'redis' },
  },
  {
    name: 'links that a page has pushed early are known (embedded)',
    edits: [
      {
        file: `${sql}requests/acceptance.ts`,
        find: '&& isKnown(tx, { id: page.id, isLive }, id)',
        replace: '&& false',
      },
    ],
    ...{ row: 'R37', engine: 'embedded' },
  },
  {
    name: 'a store with older data is noticed',
    edits: [
      {
        file: 'frontier/redis/connection/data-history.ts',
        find: 'if (found === null || before === null) return;',
        replace: 'if (found !== undefined) return;',
      },
    ],
    ...{ row: 'R8', engine: 'redis' },
  },
];

/** The store of a crawl, written past crawlnode: as somebody does who can write to Redis, or to the file. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { adminOf, startStore } from '../harness/redis.mjs';

/** @returns what both engines offer: settings, and a way to change each kind of record; each gives how many it changed. */
export async function storeOf(engine, folder, spider) {
  return engine === 'redis' ? inRedis(spider) : inFile(path.join(folder, 'project', '.crawlnode'), spider);
}

/** The outbox of a pipeline with `committed`, not that of a file. */
const isOfPipeline = (feed) => feed.startsWith('pipeline-');

async function inRedis(spider) {
  const server = await startStore();
  const db = adminOf(server.url);
  const key = (word) => `${spider}:requests:~${word}`;
  const changeHash = async (name, change, wanted = () => true) => {
    // The fields are bytes, so a reply as pairs.
    const fields = await db.hkeysBuffer(name);
    const values = fields.length === 0 ? [] : await db.hmgetBuffer(name, ...fields);
    let changed = 0;
    for (const [n, field] of fields.entries()) {
      if (!wanted(field.toString())) continue;
      const next = change(values[n]);
      if (next === null) continue;
      await db.hset(name, field, next);
      changed += 1;
    }
    return changed;
  };
  const changeList = async (name, change) => {
    const values = await db.lrangeBuffer(name, 0, -1);
    let changed = 0;
    for (const [n, value] of values.entries()) {
      const next = change(value);
      if (next === null) continue;
      await db.lset(name, n, next);
      changed += 1;
    }
    return changed;
  };
  return {
    settings: { REDIS_URL: server.url },
    requests: (change) => changeHash(`${spider}:requests`, change),
    seeds: (change) => changeList(`${spider}:start_urls`, change),
    items: (change) => changeList(`${spider}:items`, change),
    feeds: (change) =>
      changeHash(key('feeds'), change, (field) => !field.endsWith(':tail') && !isOfPipeline(field)),
    others: async (change) =>
      (await changeHash(key('node-info'), change)) + (await changeHash(key('failures'), change)),
    async outbox(texts, { ofPipeline = false } = {}) {
      const feed = (await db.hkeys(key('feeds'))).find(
        (field) => !field.endsWith(':tail') && isOfPipeline(field) === ofPipeline,
      );
      const last = Number((await db.hget(key('feeds'), `${feed}:tail`)) ?? 0);
      for (const [n, text] of texts.entries()) await db.hset(key('outbox'), `${feed}:${last + 1 + n}`, text);
      await db.hset(key('feeds'), `${feed}:tail`, last + texts.length);
      return texts.length;
    },
    badSeeds: () => db.lrange(`${spider}:start_urls:bad`, 0, -1),
  };
}

function inFile(folder, spider) {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const open = (action) => {
    const database = new DatabaseSync(path.join(folder, 'frontier.db'));
    try {
      database.exec('BEGIN IMMEDIATE');
      const result = action(database);
      database.exec('COMMIT');
      return result;
    } finally {
      database.close();
    }
  };
  const spaceOf = (database, name) =>
    database.prepare('SELECT id FROM space WHERE name = ?').get(name)?.id ?? -1;
  /** Bytes as text, whatever they are: SQLite does not check that they are UTF-8. */
  const changeText = (select, update, change) =>
    open((database) => {
      let changed = 0;
      for (const { n, text } of database.prepare(select(database)).all()) {
        const next = change(Buffer.from(text));
        if (next === null) continue;
        database.prepare(update).run(next, n);
        changed += 1;
      }
      return changed;
    });
  return {
    settings: {},
    requests: (change) =>
      changeText(
        () => 'SELECT n, text FROM record',
        'UPDATE record SET text = CAST(? AS TEXT) WHERE n = ?',
        change,
      ),
    items: (change) =>
      changeText(
        () => 'SELECT n, text FROM item',
        'UPDATE item SET text = CAST(? AS TEXT) WHERE n = ?',
        change,
      ),
    seeds: (change) =>
      open((database) => {
        let changed = 0;
        for (const { n, value } of database.prepare('SELECT n, value FROM seed').all()) {
          const next = change(Buffer.from(value));
          if (next === null) continue;
          const digest = createHash('sha1').update(next).digest().subarray(0, 12);
          database.prepare('UPDATE seed SET value = ?, digest = ? WHERE n = ?').run(next, digest, n);
          changed += 1;
        }
        return changed;
      }),
    /** The columns of a feed stand for the fields of its record. */
    feeds: (change) =>
      open((database) => {
        const row = database
          .prepare('SELECT * FROM feed')
          .all()
          .find(({ feed }) => !isOfPipeline(feed));
        if (row === undefined) return 0;
        const next = change(Buffer.from(JSON.stringify(row)));
        let fields;
        try {
          fields = JSON.parse(next?.toString() ?? 'null');
        } catch {
          fields = { path: next.toString(), written_header: next.toString() };
        }
        for (const [column, value] of Object.entries(fields ?? {})) {
          if (['space', 'feed'].includes(column) || !Object.hasOwn(row, column)) continue;
          const plain = typeof value === 'object' ? JSON.stringify(value) : value === true ? 1 : value;
          try {
            database.prepare(`UPDATE feed SET ${column} = ? WHERE feed = ?`).run(plain, row.feed);
          } catch {
            // The table is strict: SQLite refuses a value of another type.
          }
        }
        return 1;
      }),
    others: (change) =>
      changeText(
        () => `SELECT sequence AS n, coalesce(detail, '') AS text FROM failure`,
        'UPDATE failure SET detail = CAST(? AS TEXT) WHERE sequence = ?',
        change,
      ),
    outbox: (texts, { ofPipeline = false } = {}) =>
      open((database) => {
        const { space, feed, last } = database
          .prepare('SELECT space, feed, last FROM feed')
          .all()
          .find((row) => isOfPipeline(row.feed) === ofPipeline);
        for (const [n, text] of texts.entries())
          database
            .prepare('INSERT INTO outbox (space, feed, sequence, text) VALUES (?, ?, ?, CAST(? AS TEXT))')
            .run(space, feed, last + 1 + n, text);
        database.prepare('UPDATE feed SET last = ? WHERE feed = ?').run(last + texts.length, feed);
        return texts.length;
      }),
    badSeeds: () =>
      open((database) =>
        database
          .prepare('SELECT entry FROM bad_seed WHERE space = ?')
          .all(spaceOf(database, `${spider}:start_urls:bad`))
          .map(({ entry }) => entry),
      ),
  };
}

/**
 * Pipelines of the proof: each writes its batch in two halves, without a transaction, and says in between that it is in the
 * middle of it, so that the proof can kill it there.
 */
const halfway = `
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
async function inTheMiddle() {
  appendFileSync('halfway', process.pid + '\\n');
  await sleep(Number(process.env.PAUSE_MS));
}
`;

export const intoPostgres = `
import postgres from 'postgres';
${halfway}
export default class {
  batchItems = 50;
  batchSeconds = 0.1;
  sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} });
  async open() {
    await this.sql\`CREATE TABLE IF NOT EXISTS item (id text PRIMARY KEY, page int NOT NULL, part text NOT NULL, writes int NOT NULL)\`;
  }
  async write(rows) {
    if (rows.length === 0) return;
    await this.sql\`INSERT INTO item \${this.sql(rows)} ON CONFLICT (id) DO UPDATE SET writes = item.writes + 1\`;
  }
  async committed(batch) {
    const rows = batch.map(({ id, item }) => ({ id, page: item.page, part: item.part, writes: 1 }));
    const half = rows.length >> 1;
    await this.write(rows.slice(0, half));
    await inTheMiddle();
    await this.write(rows.slice(half));
  }
  async close() { await this.sql.end(); }
}
`;

export const intoSqlite = `
import { DatabaseSync } from '@photostructure/sqlite';
${halfway}
export default class {
  batchItems = 50;
  batchSeconds = 0.1;
  database = new DatabaseSync('items.db', { timeout: 10_000 });
  open() {
    this.database.exec('CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, page INT NOT NULL, part TEXT NOT NULL, writes INT NOT NULL)');
  }
  write(rows) {
    const upsert = this.database.prepare('INSERT INTO item VALUES (?, ?, ?, 1) ON CONFLICT (id) DO UPDATE SET writes = writes + 1');
    for (const { id, item } of rows) upsert.run(id, item.page, item.part);
  }
  async committed(batch) {
    const half = batch.length >> 1;
    this.write(batch.slice(0, half));
    await inTheMiddle();
    this.write(batch.slice(half));
  }
  close() { this.database.close(); }
}
`;

/** The crawls of a folder, as it lists them. */
import { openDatabase } from '../file/database.js';
import { asExpected } from '../file/sqlite-errors.js';

const MAX_CRAWLS = 100_000;

/** @returns the names of their requests keys, such as `news:requests` or `news:requests@monday`, sorted. */
export async function findInFolder(dir: string): Promise<string[]> {
  const database = openDatabase(dir);
  try {
    return database.readable.column(
      `SELECT name FROM space WHERE is_crawl = 1 ORDER BY name LIMIT ${MAX_CRAWLS}`,
    );
  } catch (error) {
    throw asExpected(error, database.file);
  } finally {
    await database.close();
  }
}

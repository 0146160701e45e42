/** What the errors of SQLite mean to somebody who crawls. */
import { expect, it } from 'vitest';
import { connect } from '../../../../src/disk/sqlite.js';
import { asExpected } from '../../../../src/frontier/embedded/file/sqlite-errors.js';
import { tempDir } from '../../../helpers/temp-dir.js';

it('a file that has no room to grow is a full disk, and the message says what to do', async () => {
  const folder = tempDir('full');
  const connection = connect(`${folder.dir}/full.db`);
  connection.exec('CREATE TABLE t (text TEXT)');
  connection.exec('PRAGMA max_page_count = 4');
  let thrown: unknown;
  try {
    connection.exec('INSERT INTO t VALUES (zeroblob(1000000))');
  } catch (error) {
    thrown = error;
  }
  connection.close();
  await folder.remove();
  expect(asExpected(thrown, 'frontier.db')).toMatchObject({
    code: 'disk_full',
    message: expect.stringContaining('frontier.db cannot grow, because the disk is full: make room'),
  });
});

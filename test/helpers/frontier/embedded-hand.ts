/** A foreign hand in the SQLite file of an embedded frontier. */
import { type Connection, connect } from '../../../src/disk/sqlite.js';
import { classOf, dupefilterNames } from '../../../src/frontier/dupefilter-classes.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import type { ForeignHand } from '../../frontier-contract/world.js';

const tables = new Set(dupefilterNames.map((name) => classOf({ class: name }).table));

export function embeddedHand(dir: string): ForeignHand {
  const byHand = async (act: (file: Connection) => void) => {
    const file = connect(fileIn(dir));
    try {
      act(file);
    } finally {
      file.close();
    }
  };
  return {
    deleteSeen: () =>
      byHand((file) => {
        for (const table of tables) file.prepare(`DELETE FROM ${table}`).run();
      }),
    deleteRecord: ({ id }) =>
      byHand((file) => {
        file
          .prepare('DELETE FROM record WHERE n = (SELECT n FROM request WHERE id = ?)')
          .run(Buffer.from(id, 'hex'));
      }),
  };
}

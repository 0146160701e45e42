/** A foreign hand in the SQLite file of an embedded frontier. */
import { type Connection, connect } from '../../../src/disk/sqlite.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import type { ForeignHand } from '../../frontier-contract/world.js';

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
    deleteRecord: ({ id }) =>
      byHand((file) => {
        file
          .prepare('DELETE FROM record WHERE n = (SELECT n FROM request WHERE id = ?)')
          .run(Buffer.from(id, 'hex'));
      }),
  };
}

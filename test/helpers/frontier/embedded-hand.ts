/** A foreign hand in the SQLite file of an embedded frontier, and its clock. */
import { type MockInstance, vi } from 'vitest';
import { type Connection, connect } from '../../../src/disk/sqlite.js';
import { classOf, dupefilterNames } from '../../../src/frontier/dupefilter-classes.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import type { ForeignHand, StoreClock } from '../../frontier-contract/world.js';

const tables = new Set(dupefilterNames.map((name) => classOf({ class: name }).table));

export function embeddedHand(dir: string): ForeignHand {
  const byHand = async <T>(act: (file: Connection) => T): Promise<T> => {
    const file = connect(fileIn(dir));
    try {
      return act(file);
    } finally {
      file.close();
    }
  };
  return {
    left: () =>
      byHand((file) => {
        const names = file
          .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
          .all();
        return (names as { name: string }[])
          .map(({ name }) => name)
          .filter((name) => file.prepare(`SELECT 1 FROM ${name}`).get() !== undefined);
      }),
    deleteSeen: () =>
      byHand((file) => {
        for (const table of tables) file.prepare(`DELETE FROM ${table}`).run();
      }),
    renameDupefilter: (name) =>
      byHand((file) => {
        const choice = JSON.stringify({ class: name });
        file.prepare('UPDATE dupefilter SET choice = ?').run(choice);
        file.prepare('UPDATE crawl SET dupefilter = ?').run(choice);
      }),
    makeDue: ({ id }) =>
      byHand((file) => {
        file.prepare('UPDATE request SET due = 0 WHERE id = ?').run(Buffer.from(id, 'hex'));
      }),
    setAccepted: (count) => byHand((file) => void file.prepare('UPDATE tally SET accepted = ?').run(count)),
    deleteRecord: ({ id }) =>
      byHand((file) => {
        file
          .prepare('DELETE FROM record WHERE n = (SELECT n FROM request WHERE id = ?)')
          .run(Buffer.from(id, 'hex'));
      }),
  };
}

/** The clock of an embedded store is that of each process: here of this one. */
export function clockOfThisProcess(): StoreClock {
  let spy: MockInstance<() => number> | undefined;
  let aheadMs = 0;
  return {
    setForward(ms) {
      aheadMs += ms;
      const now = Date.now;
      spy ??= vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
    },
    reset() {
      spy?.mockRestore();
      spy = undefined;
      aheadMs = 0;
    },
  };
}

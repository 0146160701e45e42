/** StateDupeFilter: each fingerprint with the last thing that happened to its request, exact. */
import type { RequestLife } from '../../frontier.js';
import type { DupefilterContext, LifeChange } from './dupefilter.js';
import { RowDupefilter } from './rows-dupefilter.js';

export class StateDupefilter extends RowDupefilter {
  constructor(context: DupefilterContext) {
    super(context, { table: 'seen_state', key: 'id', rowBytes: 51 });
  }

  override record(fingerprint: Uint8Array, isSeen: boolean): void {
    const { sql, space, now } = this.context;
    sql.run`REPLACE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${space}, ${fingerprint}, 'pending', ${now()}, NULL, 0)`;
    if (!isSeen) this.context.count += 1;
  }

  /** A fingerprint that was forgotten meanwhile stays so. */
  onLife(fingerprint: Uint8Array, { state, status, attempts }: LifeChange): void {
    const { sql, space, now } = this.context;
    if (status === undefined || attempts === undefined) {
      sql.run`UPDATE seen_state SET state = ${state}, at = ${now()} WHERE space = ${space} AND id = ${fingerprint}`;
      return;
    }
    sql.run`UPDATE seen_state SET state = ${state}, at = ${now()}, status = ${status}, attempts = ${attempts}
      WHERE space = ${space} AND id = ${fingerprint}`;
  }

  life(fingerprint: Uint8Array): RequestLife | null {
    const { sql, space } = this.context;
    const life = sql.get<RequestLife>`
      SELECT state, at AS atMs, status, attempts FROM seen_state WHERE space = ${space} AND id = ${fingerprint}`;
    return life ?? null;
  }
}

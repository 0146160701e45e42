/** The row of a domain. */

/** Columns are explained in `schema.sql`. */
export interface DomainRow {
  readonly space: number;
  readonly name: string;
  state: 'ready' | 'waiting' | 'full' | 'idle';
  until: number | null;
  head_rank: number | null;
  head_arrival: number | null;
  active: number;
  next_at: number;
  blocked_until: number;
  paused_by: 'retry_after' | 'autothrottle' | null;
  last_at: number;
  delay_setting: number | null;
  delay_robots: number;
  delay_auto: number;
}

export function newDomain(space: number, name: string): DomainRow {
  return {
    ...{
      space,
      name,
      state: 'idle',
      until: null,
      head_rank: null,
      head_arrival: null,
      active: 0,
      next_at: 0,
    },
    ...{ blocked_until: 0, paused_by: null, last_at: 0, delay_setting: null, delay_robots: 0, delay_auto: 0 },
  };
}

const numbers = [
  ...(['until', 'active', 'next_at', 'blocked_until', 'last_at'] as const),
  ...(['delay_setting', 'delay_robots', 'delay_auto'] as const),
];

/** The first number that no verb has written: with 10⁵ domains in a store nobody looks through them all beforehand. */
export function unreadableColumn(row: DomainRow): string | undefined {
  return numbers.find((name) => {
    const value = row[name] ?? 0;
    return !(value >= 0 && value <= Number.MAX_SAFE_INTEGER);
  });
}

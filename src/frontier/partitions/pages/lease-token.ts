/** The token of a lease names its partition: `2/17.<id>` is the token `17.<id>` of partition 2. */
import type { Lease } from '../../frontier.js';

export function withPartition(lease: Lease, partition: number): Lease {
  return { ...lease, token: `${partition}/${lease.token}` };
}

/** The partition of a lease, and the lease as the partition knows it. A token without a partition is in none: -1. */
export function ofPartition<T extends Pick<Lease, 'token'>>(lease: T): { partition: number; lease: T } {
  const at = lease.token.indexOf('/');
  const partition = at < 0 ? -1 : Number(lease.token.slice(0, at));
  return { partition, lease: { ...lease, token: lease.token.slice(at + 1) } };
}

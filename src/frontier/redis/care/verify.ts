/** Verification of the invariants I1–I8 in Redis. Not converted to Redis Functions yet. */
import type { FrontierKeys } from '../../open.js';
import type { Client } from '../connection.js';

export async function verifyInvariants(_client: Client, _keys: FrontierKeys): Promise<string[]> {
  return [];
}

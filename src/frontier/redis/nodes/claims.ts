/** The verbs by which nodes share work that is no request: recovery of dead nodes, start requests, hooks of an idle crawl. */
import type { Frontier, StartClaim } from '../../frontier.js';
import { type RecoveryStep, recoverBy } from '../../recovery.js';
import { startKey } from '../../shared-settings/run-arguments.js';
import { int, json, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { startField } from './join.js';

/** Leases moved by one step of recovery: some hundred microseconds. */
const RECOVERY_STEP = 100;

export function claimVerbs({
  call,
  node,
}: CrawlAccess): Pick<Frontier, 'recover' | 'claimStart' | 'claimIdle' | 'endIdle'> {
  return {
    recover: recoverBy(async () => {
      const reply = await call('recover', { most: RECOVERY_STEP });
      if (reply == null) return { isDone: true, nodes: [], failed: [] };
      const { isDone, nodes, failed } = json<RecoveryStep>(reply);
      return { isDone, nodes: Object.values(nodes), failed: Object.values(failed) };
    }),
    async claimStart() {
      await node.live();
      const start = startField(startKey(node.options?.args ?? {}));
      return text(await call('claim_start', { start })) as StartClaim;
    },
    async claimIdle(againAfterMs) {
      await node.live();
      return int(await call('ask_idle', { againAfterMs: againAfterMs ?? undefined })) === 1;
    },
    async endIdle() {
      await node.live();
      await call('ask_idle', { ended: true });
    },
  };
}

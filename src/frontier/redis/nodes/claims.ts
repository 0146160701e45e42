/** The verbs by which nodes share work that is no request: recovery of dead nodes, start requests, hooks of an idle crawl. */
import type { CrashedRequest, Frontier, StartClaim } from '../../frontier.js';
import { RecoveredNodes } from '../../recovered-nodes.js';
import { startKey } from '../../shared-settings/run-arguments.js';
import { int, json, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { startField } from './join.js';

/** Leases moved by one step of recovery: some hundred microseconds. */
const RECOVERY_STEP = 100;

/** The answer of `lua/nodes/recover.lua`. */
interface Recovered {
  readonly isDone: boolean;
  readonly nodes: readonly { readonly incarnation: string; readonly id: string; readonly count: number }[];
  readonly failed: readonly CrashedRequest[];
}

export function claimVerbs({
  call,
  node,
}: CrawlAccess): Pick<Frontier, 'recover' | 'claimStart' | 'claimIdle' | 'endIdle'> {
  return {
    async recover(onDead, onFailed) {
      const recovered = new RecoveredNodes();
      for (;;) {
        const reply = await call('recover', { most: RECOVERY_STEP });
        if (reply == null) break;
        const { isDone, nodes, failed } = json<Recovered>(reply);
        for (const { incarnation, id, count } of Object.values(nodes)) recovered.add(incarnation, id, count);
        for (const request of Object.values(failed)) onFailed?.(request);
        if (isDone) break;
      }
      return recovered.report(onDead);
    },
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

/** What stays the same over all incarnations of a node. */

import type { EngineDeps } from '../engine-options.js';
import { DeadEnds } from '../page/dead-ends.js';
import { type LinkRules, linkRules } from '../page/discovered-requests.js';
import { LostStarts } from '../page/failed-start-pages.js';
import { HangingHosts } from '../page/hanging-hosts.js';
import type { Tally } from '../page/slots.js';
import { Alarm } from './alarm.js';
import { Pulse } from './heartbeat.js';
import { Outage } from './outage.js';
import { Hooks } from './project-hooks.js';

export class NodeState {
  readonly deps: EngineDeps;
  readonly alarm = new Alarm();
  readonly outage: Outage;
  readonly hooks: Hooks;
  readonly lostStarts: LostStarts;
  readonly deadEnds = new DeadEnds();
  readonly hangingHosts: HangingHosts;
  readonly pulse = new Pulse();
  readonly rules: LinkRules;
  readonly tally: Tally = { pages: 0, failed: 0, items: 0 };
  readonly startedAt = performance.now();
  /** When a feed began to fail; null while all is well. */
  feedFailingSince: number | null = null;
  /** Whether it was said that there is nothing to do but to wait for seeds. */
  saidIdle = false;

  constructor(deps: EngineDeps) {
    this.deps = deps;
    this.outage = new Outage(deps.log);
    this.hooks = new Hooks(deps);
    this.lostStarts = new LostStarts(deps.log);
    this.hangingHosts = new HangingHosts(deps.options.retry);
    this.rules = linkRules(deps.spider, deps.options.links, deps.options.shape.domainKey, deps.job);
    this.pulse.note(0, 0);
  }
}

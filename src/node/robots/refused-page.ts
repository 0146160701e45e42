/** How a page ends that may not be downloaded because of robots.txt. */
import { noEffects, type Outcome } from '../../frontier/frontier.js';
import { add } from '../links/filter-links.js';
import { errback } from '../page/apply-verdict.js';
import { FORBIDDEN_BY_ROBOTS } from '../page/dead-ends.js';
import type { PageEnding, Work } from '../page/page-work.js';
import { tellDropped } from '../page/run-project-code.js';
import type { Passage } from './robots-gate.js';

/** In the failed list; the errback of the page is told the cause. */
const UNREACHABLE = 'robots_unreachable';

/** Forbidden: errback, done. Unreachable: errback, failed. No page is counted against the budget. */
export async function endRefused(
  work: Work,
  passage: Extract<Passage, { kind: 'forbidden' | 'released' | 'unreachable' }>,
): Promise<PageEnding> {
  const { record, counters, deps } = work;
  const ends = { attempts: record.attempts, unstarted: true } as const;
  switch (passage.kind) {
    case 'released':
      return { outcome: { kind: 'released', reason: passage.reason, unstarted: true }, effects: noEffects };
    case 'forbidden': {
      add(counters, 'robotstxt/forbidden');
      deps.deadEnds.note(FORBIDDEN_BY_ROBOTS, record.url);
      await tellDropped(work, record.url, 'forbidden by robots.txt');
      const message = `robots.txt forbids ${record.url}`;
      const failure = { reason: 'robots_forbidden', status: null, response: null, message };
      return errback(work, failure, { kind: 'done', reason: failure.reason, noPage: 'other', ...ends });
    }
    case 'unreachable': {
      add(counters, 'robotstxt/unreachable');
      const { reason, why } = passage;
      const cause = reason === UNREACHABLE ? '' : ` (${reason})`;
      const message = `the robots.txt of its site cannot be fetched${cause}: ${why}`;
      const failure = { reason, status: null, response: null, message };
      const outcome: Outcome = { kind: 'failed', reason: UNREACHABLE, detail: message, ...ends };
      return errback(work, failure, outcome);
    }
  }
}

/**
 * I1: each record is in exactly one state, and no state is without a record (except failed ones past FAILED_LIMIT). What
 * one step shows is exact. That a request is nowhere, or waits twice, shows only when all steps are compared, between
 * which a running crawl moves requests. So these are looked at again (`second-look.ts`).
 */
import { list, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { FIRST_RECORDS, steps } from '../read/steps.js';
import { lookAgain } from './second-look.js';
import { WaitingIds } from './waiting-ids.js';

/** @returns one sentence for each breach. */
export async function checkRequests(crawl: CrawlAccess): Promise<string[]> {
  const waiting = new WaitingIds();
  for await (const { ids } of steps(crawl.call, 'examine', { place: 'requests' }, FIRST_RECORDS)) {
    for (const id of list(ids)) waiting.expect(id as Buffer);
  }
  const breaches: string[] = [];
  const twice: Buffer[] = [];
  for (const place of ['delayed', 'suspects', 'queue']) {
    for await (const step of steps(crawl.call, 'examine', { place })) {
      for (const id of list(step.ids) as Buffer[]) if (waiting.meet(id)) twice.push(id);
      breaches.push(...list(step.breaches).map(text));
    }
  }
  return [...breaches, ...(await lookAgain(crawl, [...twice, ...waiting.unmet()]))];
}

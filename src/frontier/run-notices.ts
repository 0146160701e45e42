/** What a node is told of the run it begins or takes part in, beside its tunables. */

/** What became of SCHEDULER_FLUSH_ON_START; null where it was not set, or there was nothing to forget. */
export type Flush = 'flushed' | 'others' | 'interrupted';

/** A sentence for the user, or none. @param others live nodes beside this one. */
export function flushNotice(flush: Flush | null, others: number): string[] {
  switch (flush) {
    case 'flushed':
      return [
        'SCHEDULER_FLUSH_ON_START: cleared the requests, failed requests and fingerprints that earlier runs had left',
      ];
    case 'others':
      return [
        `SCHEDULER_FLUSH_ON_START has no effect here: ${others} other node${others === 1 ? ' is' : 's are'} working on this crawl`,
      ];
    case 'interrupted':
      return [
        'SCHEDULER_FLUSH_ON_START has no effect here: this node goes on with a run that was interrupted; reset the crawl to begin anew',
      ];
    case null:
      return [];
  }
}

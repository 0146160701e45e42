/** A download that begins late waits for another instant of its domain, or does not begin. */
import { describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { silentLogger } from '../../../src/log.js';
import { Outage } from '../../../src/node/membership/outage.js';
import { awaitOwnTurn } from '../../../src/node/middleware/late-download.js';
import { Flight } from '../../../src/node/page/flight.js';
import { request, takeOne } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
import { freshStore } from '../../helpers/node.js';
import { own } from '../../helpers/resources.js';

const SECOND = 1_000;
const longAgo = () => performance.now() - SECOND;

/** A leased page of a domain with a delay, and what it waits with. */
async function leased(delayMs: number) {
  const frontier = await openFrontier(await freshStore());
  own({ name: 'a frontier', close: () => frontier.close() });
  await joinAs(frontier, { tunables: { delayMs } });
  await frontier.push([request('page')], 'links');
  const lease = await takeOne(frontier);
  return { lease, deps: { frontier, outage: new Outage(silentLogger) } };
}

describe('a late download', () => {
  it('gets another instant, from which its delay counts', async () => {
    const { lease, deps } = await leased(200);
    const flight = new Flight(lease, longAgo(), () => {});
    const before = flight.dueAt;
    expect(await awaitOwnTurn(flight, deps)).toBe(true);
    expect(flight.dueAt).toBeGreaterThan(before + SECOND / 2);
  });

  it('does not begin while its domain is left alone for long', async () => {
    const { lease, deps } = await leased(100);
    await deps.frontier.throttle(lease.domain, { forMs: 60 * SECOND, source: 'retry-after' });
    expect(await awaitOwnTurn(new Flight(lease, longAgo(), () => {}), deps)).toBe(false);
  });

  it('does not begin when the lease is no longer ours, or its page is over', async () => {
    const { lease, deps } = await leased(100);
    const dropped = new Flight(lease, performance.now(), () => {});
    dropped.over = true;
    expect(await awaitOwnTurn(dropped, deps)).toBe(false);
    await deps.frontier.settle(
      lease,
      { kind: 'released', reason: 'shutdown', unstarted: true },
      { items: [], feedItems: [], requests: [], stats: {} },
    );
    expect(await awaitOwnTurn(new Flight(lease, longAgo(), () => {}), deps)).toBe(false);
  });
});

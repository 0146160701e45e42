/** What a node reports and finds out in tests that do not care. */
import type { Assessment, HistoryPoint, NodeFacts } from '../../src/frontier/frontier.js';

export const nodeFacts: NodeFacts = {
  ...{ version: '1.2.3', rssBytes: 1e8, cpu: 0.5, eventLoopDelayMs: 3, slots: 16, slotsUsed: 4 },
  ...{
    failuresPerSecond: 0,
    oldestLeaseMs: 250,
    oldestLeaseDomain: 'a.example',
    obstacle: null,
    metricsPort: null,
  },
};

export const historyPoint = (more: Partial<HistoryPoint> = {}): HistoryPoint => ({
  ...{ atMs: Date.now(), pages: 1, items: 2, failures: 3, retries: 4, accepted: 5, pending: 6, delayed: 7 },
  ...{ leased: 8, nodes: 9, limitedBy: 'nodes', wantedNodes: 10 },
  ...{ nodesCpu: 1.25, storeCpuSeconds: 12.5 },
  ...more,
});

export const assessment: Assessment = {
  ...{ atMs: 1, limitedBy: 'nodes', sentence: 'it is so', leasable: 3, slots: 16, slotsUsed: 16 },
  ...{ usableSlots: 16, eta: null, wantedNodes: 2 },
};

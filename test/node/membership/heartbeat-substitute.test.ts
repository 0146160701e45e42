/** The thread of the heartbeats needs a connection of its own, which may take long. */
import { once } from 'node:events';
import net from 'node:net';
import { it } from 'vitest';
import { silentLogger } from '../../../src/log.js';
import { Heartbeat, Pulse } from '../../../src/node/membership/heartbeat.js';
import { openOptions } from '../../helpers/open-options.js';
import { waitFor } from '../../helpers/wait-for.js';

const heartbeatOf = (url: string, beatHere: (incarnation: string) => Promise<unknown>) => {
  const pulse = new Pulse();
  pulse.note(0);
  const options = {
    ...{ open: openOptions(url, 'news'), incarnation: 'one' },
    ...{ intervalMs: 50, mainLoopTimeoutMs: 120_000, endAfterMs: 120_000, endsProcess: false },
    ...{ node: 'one', speaksJson: true, pulse: pulse.buffer, metrics: null },
    reports: { historyMinutes: 5, scaleMax: 100 },
  };
  return new Heartbeat(options, { onNews: () => {}, onReported: () => {} }, silentLogger, beatHere);
};

it('the main loop sends heartbeats while the thread has no connection yet', { timeout: 30_000 }, async () => {
  const silent = net.createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const beats: string[] = [];
  const heartbeat = heartbeatOf(
    `redis://127.0.0.1:${(silent.address() as net.AddressInfo).port}`,
    async (incarnation) => beats.push(incarnation),
  );
  try {
    await waitFor(() => beats.length >= 3);
    heartbeat.follow('two');
    await waitFor(() => beats.includes('two'));
  } finally {
    await heartbeat.stop();
    silent.close();
  }
});

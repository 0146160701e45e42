/** Waiting for a store that cannot be reached. */
import { afterEach, expect, test } from 'vitest';
import type { ErrorCode } from '../../../src/error-codes.js';
import { FrontierUnavailableError, WaitedTooLongError } from '../../../src/errors.js';
import { type Logger, silentLogger } from '../../../src/log.js';
import { Outage } from '../../../src/node/membership/outage.js';

const warnings: Error[] = [];
const keep = (warning: Error) => void warnings.push(warning);
process.on('warning', keep);
afterEach(() => void process.off('warning', keep));

test('any number of pages wait under one signal, and Node has nothing to say about it', async () => {
  const outage = new Outage(silentLogger);
  const stop = new AbortController();
  let calls = 0;
  const settle = async () => {
    calls += 1;
    if (calls <= 40) throw new FrontierUnavailableError('the store is away');
    return 'settled';
  };
  const pages = Array.from({ length: 20 }, () => outage.through('settle', stop.signal, settle));
  expect(await Promise.all(pages)).toEqual(Array(20).fill('settled'));
  expect({ why: outage.why, warnings }).toEqual({ why: null, warnings: [] });
});

const forEver = { waitTimeoutMs: 0, maxRunMs: 0 };

/** A log that keeps its messages. */
function keptLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  return { log: { ...silentLogger, info: note, warn: note } as Logger, lines };
}

/** Fail so often, with such an error, then succeed. */
const failing = (times: number, code?: ErrorCode) => async () => {
  times -= 1;
  if (times >= 0) throw new FrontierUnavailableError('away', code === undefined ? {} : { code });
};

test('an outage is a line when it begins, now and then while it lasts, and one when it is over', async () => {
  const { log, lines } = keptLog();
  const outage = new Outage(log, forEver, { sayAgainMs: 300 });
  await outage.through('lease', new AbortController().signal, failing(4));
  expect(lines[0]).toBe('the frontier cannot be reached; waiting for it');
  expect(lines.at(-1)).toBe('the frontier can be reached again');
  const between = lines.slice(1, -1);
  expect(between.length).toBeGreaterThan(0);
  expect(new Set(between)).toEqual(new Set(['the frontier still cannot be reached; waiting for it']));
});

test('a store that fails on and off, as a full disk does, has one outage', async () => {
  const { log, lines } = keptLog();
  const outage = new Outage(log, forEver, { stableMs: 3_600_000, flapsWithinMs: 3_600_000 });
  const { signal } = new AbortController();
  for (let n = 0; n < 8; n += 1) await outage.through('settle', signal, failing(1, 'disk_full'));
  const full = 'the disk is full; waiting for room';
  expect(lines).toEqual([full, 'the frontier can be reached again', full]);
});

test('a store that refuses the rights of its user is not called one that cannot be reached', async () => {
  const { log, lines } = keptLog();
  const outage = new Outage(log);
  await outage.through('lease', new AbortController().signal, failing(1, 'unauthorized'));
  expect(lines[0]).toBe('the store answers, and refuses the rights of its user; waiting for them');
});

test('an outage that lasts for too long ends the waiting of all who wait, by either limit', async () => {
  const { signal } = new AbortController();
  for (const [limits, code, exitCode, says] of [
    [
      { waitTimeoutMs: 200, maxRunMs: 0 },
      'frontier_unavailable',
      4,
      'away; waited 0.2 s for it (WAIT_TIMEOUT)',
    ],
    [{ waitTimeoutMs: 200, maxRunMs: 0 }, 'disk_full', 1, 'away; waited 0.2 s for it (WAIT_TIMEOUT)'],
    [
      { waitTimeoutMs: 0, maxRunMs: 300 },
      'frontier_unavailable',
      4,
      'away; the 0.3 s of this run (CLOSESPIDER_TIMEOUT)',
    ],
  ] as const) {
    const outage = new Outage(silentLogger, limits);
    const waiting = ['lease', 'settle', 'settle'].map((verb) =>
      outage.through(verb, signal, failing(Number.POSITIVE_INFINITY, code)).then(
        () => null,
        (error: unknown) => error,
      ),
    );
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(WaitedTooLongError);
      expect(error).toMatchObject({ code, exitCode, message: expect.stringContaining(says) });
    }
  }
});

test('a call that hangs is not waited for beyond the limit, which counts from the first call that got no answer', async () => {
  const outage = new Outage(silentLogger, { waitTimeoutMs: 300, maxRunMs: 0 });
  let calls = 0;
  const hanging = () => {
    calls += 1;
    return calls === 1 ? Promise.reject(new FrontierUnavailableError('away')) : new Promise<never>(() => {});
  };
  await expect(outage.through('lease', new AbortController().signal, hanging)).rejects.toThrow(
    'away; waited 0.3 s for it (WAIT_TIMEOUT)',
  );
});

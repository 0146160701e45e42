/** Waiting for a store that cannot be reached. */
import { afterEach, expect, test } from 'vitest';
import { Outage } from '../../../src/engine/node/outage.js';
import { FrontierUnavailableError } from '../../../src/errors.js';
import { silentLogger } from '../../../src/log.js';

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

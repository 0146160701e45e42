/** The parent of `crawl --workers`. */
import { expect, it } from 'vitest';
import { codeWhileDraining } from '../../../src/cli/crawl/workers.js';

it('a node that is killed while it drains has not left in good order, one that the asking signal ended has', () => {
  expect(codeWhileDraining(null, 'SIGKILL')).toBe(1);
  expect(codeWhileDraining(null, 'SIGSEGV')).toBe(1);
  expect(codeWhileDraining(null, 'SIGTERM')).toBe(0);
  expect(codeWhileDraining(0, null)).toBe(0);
  expect(codeWhileDraining(143, null)).toBe(143);
});

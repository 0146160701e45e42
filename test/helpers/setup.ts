/** Runs in every test file (`setupFiles` of vitest.config.ts): afterwards close what is open and look for leftovers. */
import { afterAll } from 'vitest';
import { expectNothingLeft } from './leftovers.js';
import { closeResources } from './resources.js';

// Registered before any hook of the file, so it runs after all of them.
afterAll(async () => {
  const errors = await closeResources();
  if (errors.length > 0) throw new AggregateError(errors, 'some test resources would not close');
  await expectNothingLeft();
});

/** What `npm run chaos -- --mutants` removes is in the source: whoever renames a guard hears of it here, and not a day later. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

interface Mutant {
  readonly name: string;
  readonly edits: readonly object[];
}

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

it('each guard that a mutant removes is in the source exactly once', async () => {
  const { mutants } = (await import(at('scripts/chaos/mutants/mutants.mjs'))) as { mutants: Mutant[] };
  const { editIn } = await import(at('scripts/chaos/harness/copy.mjs'));
  expect(mutants.length).toBeGreaterThan(0);
  for (const { edits } of mutants) for (const edit of edits) await editIn(at('src'), edit, async () => {});
});

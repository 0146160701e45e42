/** The head of an index beside a sorted set, through thousands of puts and deletes: it never differs from the store. */
import { expect, test } from 'vitest';
import { IndexHead } from '../src/frontier/embedded/index-head.js';

/** Some order, the same in each run. */
function* someNumbers(): Generator<number> {
  for (let number = 1; ; number = (number * 48_271) % 0x7fff_ffff) yield number;
}

test('the head of an index gives the first keys as they are in the store, whatever is put and deleted', () => {
  const numbers = someNumbers();
  const below = (most: number): number => (numbers.next().value as number) % most;
  const store = new Set<string>();
  const read = (max: number) =>
    [...store]
      .sort()
      .slice(0, max)
      .map((key) => Buffer.from(key));
  const head = new IndexHead();
  // As the keys of queues do, each comes in memory that the next one is written over.
  const scratch = Buffer.alloc(3);
  for (let step = 0; step < 5_000; step += 1) {
    // Rounds of growth and of decline, so that it is empty now and then and beyond its bounds at other times.
    const [isPut, key] = [below(10) < (step % 2_000 < 1_000 ? 7 : 2), String(below(500)).padStart(3, '0')];
    const first = read(1)[0]?.toString() ?? key;
    if (isPut) {
      store.add(key);
      scratch.write(key);
      head.add(scratch);
    } else {
      store.delete(first);
      head.remove(Buffer.from(first));
    }
    const max = 1 + below(40);
    if (below(3) === 0) expect(head.first(max, read).map(String)).toEqual(read(max).map(String));
  }
});

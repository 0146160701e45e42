/** Changes of stats: what is merged, and what is refused. */
import { describe, expect, it } from 'vitest';
import { changedStat, type StatChange, type StatValue } from '../../src/stats/stat-change.js';
import { StatChanges } from '../../src/stats/stat-changes.js';
import { mentionsStats, NodeStats } from '../../src/stats/stats.js';

/** The changes after each is merged. */
function merged(...all: StatChange[]): StatChange[] {
  const changes = new StatChanges();
  for (const change of all) changes.add(change);
  return changes.take();
}

const inc = (name: string, value: number): StatChange => ({ name, op: 'inc', value });
const set = (name: string, value: StatValue): StatChange => ({ name, op: 'set', value });
const max = (name: string, value: number): StatChange => ({ name, op: 'max', value });

describe('the changes of a page', () => {
  it('are one for each stat where nothing depends on the store', () => {
    expect(merged(inc('a', 1), max('b', 3), inc('a', 2), max('b', 2))).toEqual([inc('a', 3), max('b', 3)]);
    expect(merged(inc('a', 1), set('a', 5), inc('a', 2))).toEqual([set('a', 7)]);
    expect(merged(set('a', 'text'), inc('a', 2))).toEqual([set('a', 2)]);
  });

  it('stay apart, in order, where the store decides, and come to the same', () => {
    const changes = [inc('a', 1), max('a', 5), inc('a', 1), max('a', 4)];
    expect(merged(...changes)).toEqual(changes);
    const valueAfter = (before: number) =>
      merged(...changes).reduce<StatValue>((value, change) => changedStat(value, change), before);
    expect([valueAfter(0), valueAfter(9)]).toEqual([6, 11]);
  });

  it('begin anew once they are taken', () => {
    const changes = new StatChanges();
    changes.add(inc('a', 1));
    expect(changes.take()).toEqual([inc('a', 1)]);
    changes.add(inc('a', 1));
    expect(changes.take()).toEqual([inc('a', 1)]);
    expect(changes.isEmpty).toBe(true);
  });

  it.each([
    [inc('', 1), /name of a stat is a text of 1 to 200/],
    [inc('x'.repeat(201), 1), /name of a stat/],
    [inc('a', Number.NaN), /a: incValue takes a finite number, not NaN/],
    [{ name: 'a', op: 'max', value: 'text' } as const, /a: maxValue takes a finite number, not a text of 4/],
    [set('a', { at: 1 } as unknown as number), /a: setValue .* not a value of type object/],
    [set('a', 'x'.repeat(1_001)), /a: setValue .* not a text of 1001/],
  ])('refuse %j', (change, message) => {
    expect(() => merged(change)).toThrow(message);
  });

  it('are bounded in number', () => {
    const many = Array.from({ length: 1_001 }, (_, n) => inc(`n${n}`, 1));
    expect(() => merged(...many)).toThrow('one page changes at most 1000 stats');
  });
});

describe('the stats of a node', () => {
  it('keep the pages apart that run at the same time, also in what they wait for', async () => {
    const stats = new NodeStats().enable();
    const page = async (name: string): Promise<StatChange[]> => {
      const own: { stats: StatChanges | null } = { stats: null };
      await stats.during(own, async () => {
        stats.incValue(name);
        await new Promise(setImmediate);
        stats.incValue(name, 2);
      });
      return own.stats!.take();
    };
    expect(await Promise.all([page('a'), page('b')])).toEqual([[inc('a', 3)], [inc('b', 3)]]);
    expect(stats.takeOutside()).toEqual([]);
  });

  it('count outside of pages what comes when its page is over, or never was in one', async () => {
    const stats = new NodeStats().enable();
    let late = () => {};
    const own: { stats: StatChanges | null } = { stats: null };
    stats.during(own, () => {
      own.stats!.isOver = true;
      late = () => stats.maxValue('late', 3);
      late();
    });
    stats.setValue('opened', 'yes');
    stats.minValue('opened', 1);
    expect(stats.takeOutside()).toEqual([max('late', 3), set('opened', 1)]);
  });

  it('are off until some code asks for them', () => {
    const stats = new NodeStats();
    expect(stats.isEnabled).toBe(false);
    stats.incValue('a');
    expect(stats.isEnabled).toBe(true);
  });
});

it('a class mentions stats itself, or its base class does', () => {
  class Base {}
  class Counting extends Base {
    parse() {
      return (this as unknown as { stats: NodeStats }).stats;
    }
  }
  class Quiet extends Base {
    statistics = 1;
  }
  class Derived extends Counting {}
  const mentions = (instance: object) => mentionsStats(instance, Base.prototype);
  expect([new Counting(), new Derived(), new Quiet()].map(mentions)).toEqual([true, true, false]);
});

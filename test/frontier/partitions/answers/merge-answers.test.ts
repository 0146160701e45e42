/** Findings of `doctor` over several partitions. */
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/frontier/frontier.js';
import { mergeFindings } from '../../../../src/frontier/partitions/answers/merge-answers.js';

const finding = (about: Finding['about'], check: string, message: string): Finding => ({
  ...{ level: 'problem', check, about, message, action: null },
});
const messages = (found: readonly Finding[]) => found.map(({ message }) => message);

describe('findings of several partitions', () => {
  it('about a store name their servers, unless all have it', () => {
    const clock = finding('store', 'clock', 'an hour off');
    const evicts = finding('store', 'eviction_policy', 'may evict');
    const found = mergeFindings([[clock], [clock, evicts], [clock, evicts]], ['a:1', 'b:2', 'c:3']);
    expect(messages(found)).toEqual(['an hour off', 'b:2, c:3: may evict']);
  });

  it('about a store that has several of them appear once, apart from rights to their keys', () => {
    const at = (n: number) => [
      finding('store', 'latency', `answers in ${n} ms`),
      finding('store', 'acl', `may not use ~p${n}:*`),
    ];
    expect(messages(mergeFindings([at(1), at(2)], ['a:1', 'a:1']))).toEqual([
      ...['answers in 1 ms', 'may not use ~p1:*', 'may not use ~p2:*'],
    ]);
  });

  it('about a crawl name their partitions', () => {
    const found = mergeFindings(
      [[finding('crawl', 'keys', 'x')], [finding('crawl', 'keys', 'x')]],
      ['a', 'b'],
    );
    expect(messages(found)).toEqual(['partition 0: x', 'partition 1: x']);
  });
});

/** Random choices that a seed repeats. */

/** A seed for a run that was given none. */
export function newSeed() {
  return Math.floor(Math.random() * 2 ** 31);
}

/** @returns numbers in [0, 1), as Math.random does, and choices made with them. `name` gives each row its own. */
export function randomOf(seed, name) {
  let state = [...name].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), seed | 0);
  /** mulberry32, by Tommy Ettinger. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low, high) => low + next() * (high - low);
  const below = (count) => Math.floor(next() * count);
  return { next, between, below, of: (list) => list[below(list.length)] };
}

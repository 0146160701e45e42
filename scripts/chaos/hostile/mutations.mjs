/** Damaged and malicious versions of a text, as a seeded generator chooses. */

/** Names that mean something to JavaScript, or to a spider, and are no callbacks. */
const names = [
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'valueOf',
    'hasOwnProperty',
    '__defineGetter__',
    'then',
  ],
  ...[
    'opened',
    'closed',
    'makeRequestFromData',
    'fingerprint',
    'item',
    'log',
    'settings',
    'args',
    'start',
    'name',
  ],
];
const numbers = [
  '1e308',
  '1e999',
  '-1',
  '0',
  '9007199254740993',
  '-9223372036854775808',
  '1.5',
  '4294967296',
  '-0',
];

/** @param paths that must not be touched, nor loaded as code */
export function mutations(random, paths) {
  const { below, of: pick } = random;
  const hostileTexts = [
    ...names,
    ...paths,
    ...paths.map((path) => `file://${path}`),
    ...['../../canary/evil.mjs', './canary/evil.mjs', '/proc/self/mem', '/dev/zero', 'javascript:alert(1)'],
    ...[
      '\u0000',
      '\u001b[2J\u202e',
      'a'.repeat(5_000),
      '\ud800',
      '%00%0a',
      'x\r\nInjected: 1',
      "import('./evil.mjs')",
    ],
  ];
  const value = () =>
    pick([
      () => pick(numbers),
      () => JSON.stringify(pick(hostileTexts)),
      () => pick(['null', 'true', '[]', '{}', '[[]]', '"1"', '{"a":1}']),
      () => `{"${pick(names)}":${pick(['1', '{"polluted":1}', 'null', '"x"'])}}`,
      () => '['.repeat(below(3_000)) + ']'.repeat(below(3_000)),
      () => `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
    ])();

  const flipped = (bytes) => {
    const copy = Buffer.from(bytes);
    for (let n = 1 + below(3); n > 0 && copy.length > 0; n -= 1) copy[below(copy.length)] ^= 1 << below(8);
    return copy;
  };
  const cut = (bytes) => bytes.subarray(0, below(bytes.length + 1));
  /** One value of the JSON becomes another; where there is none, the whole. */
  const otherValue = (bytes) => {
    const text = bytes.toString();
    const places = [...text.matchAll(/:("(?:[^"\\]|\\.)*"|-?\d[\d.e+]*|true|false|null)/g)];
    if (places.length === 0) return Buffer.from(value());
    const { index, 0: found } = pick(places);
    return Buffer.from(`${text.slice(0, index + 1)}${value()}${text.slice(index + found.length)}`);
  };
  const otherKey = (bytes) => {
    const text = bytes.toString();
    const places = [...text.matchAll(/"([^"\\]*)":/g)];
    if (places.length === 0) return Buffer.from(value());
    const { index, 0: found } = pick(places);
    return Buffer.from(
      `${text.slice(0, index)}${JSON.stringify(pick(names))}:${text.slice(index + found.length)}`,
    );
  };
  const added = (bytes) => {
    const text = bytes.toString();
    const at = text.indexOf('{');
    if (at === -1) return Buffer.from(`${text}${value()}`);
    const key = JSON.stringify(pick([...names, 'x', 'c', 'e', 'callback', 'meta', 'path']));
    return Buffer.from(`${text.slice(0, at + 1)}${key}:${value()},${text.slice(at + 1)}`);
  };
  const noise = () => Buffer.from(Array.from({ length: below(200) }, () => below(256)));
  const whole = () => Buffer.from(pick([...hostileTexts, '', 'null', '[]', '{}', '0', value()]));
  const kinds = { flipped, cut, otherValue, otherKey, added, noise, whole };
  const common = ['flipped', 'cut', 'otherValue', 'otherValue', 'otherValue', 'otherKey', 'added', 'added'];
  return {
    value,
    /** @returns the bytes, changed in a random way. */
    mutate: (bytes) => kinds[pick([...common, 'noise', 'whole'])](Buffer.from(bytes)),
    text: () => pick(hostileTexts),
  };
}

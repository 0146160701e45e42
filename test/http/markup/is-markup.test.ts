/** Which bodies may hold markup. */
import { expect, test } from 'vitest';
import { isMarkup } from '../../../src/http/markup/is-markup.js';

/** A hundred bytes with so many of one kind in them. */
function bodyWith(byte: number, count: number): Buffer {
  return Buffer.alloc(100, 'a').fill(byte, 0, count);
}

test('more than one binary data byte in fifty is no markup, and every other byte is text', () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const binary = bytes.filter((byte) => !isMarkup(bodyWith(byte, 3), 'text/html'));
  // WHATWG MIME Sniffing §3.
  const data = [...bytes.slice(0x00, 0x09), 0x0b, ...bytes.slice(0x0e, 0x1b), ...bytes.slice(0x1c, 0x20)];
  expect(binary).toEqual(data);
  for (const byte of data) expect(isMarkup(bodyWith(byte, 2), 'text/html')).toBe(true);
});

test('only the first 1,024 bytes are looked at', () => {
  const text = Buffer.alloc(1024, 'a');
  const zeros = Buffer.alloc(5000);
  expect(isMarkup(Buffer.concat([text, zeros]), null)).toBe(true);
  expect(isMarkup(Buffer.concat([text.subarray(100), zeros]), null)).toBe(false);
});

test('a PDF is none, an empty body and UTF-16 with its mark are', () => {
  expect(isMarkup(Buffer.from('%PDF-1.7'), 'text/html')).toBe(false);
  expect(isMarkup(Buffer.from('%PD'), null)).toBe(true);
  expect(isMarkup(Buffer.alloc(0), null)).toBe(true);
  expect(isMarkup(Buffer.from('\ufeff<p>ab</p>', 'utf16le'), null)).toBe(true);
});

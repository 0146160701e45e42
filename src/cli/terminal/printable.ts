/**
 * Text that came from the web, from the store or from users, made harmless for a terminal: control characters (C0, C1, and
 * so every escape sequence) and what changes the direction of the text after it show instead of acting.
 */

const unsafe = '[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]';
const everyUnsafe = new RegExp(unsafe, 'g');
/** Our own colours and styles, as `colour.ts` and the log use them. */
const everyUnsafeButColours = new RegExp(`\\x1b\\[(?:0|1|2|22|31|32|33|36|39)m|${unsafe}`, 'g');

/** Unsafe characters other than line feed and tab become `\xNN` or `\uNNNN`. */
export function printable(text: string): string {
  return text.replace(everyUnsafe, escaped);
}

/** `printable` text on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, ' '));
}

/** A whole output, which may hold colours of our own: the last look before a terminal gets it (`context.ts`, `live-line.ts`). */
export function terminalText(text: string): string {
  return text.replace(everyUnsafeButColours, (found) => (found.length > 1 ? found : escaped(found)));
}

/** A value as JSON on one line, or indented, that is safe to print. */
export function printableJson(value: unknown, indent?: number): string {
  return safeJson(JSON.stringify(value, null, indent));
}

/** JSON with escapes for what JSON itself lets pass: C1 controls and changes of direction. The value stays the same. */
export function safeJson(json: string): string {
  return json.replace(everyUnsafe, (found) => (found === '\r' ? found : unicodeEscape(found)));
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code > 0xff ? unicodeEscape(character) : `\\x${code.toString(16).padStart(2, '0')}`;
}

const unicodeEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

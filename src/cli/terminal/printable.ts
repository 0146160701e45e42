/** Text that came from the web or from users, made harmless for a terminal. */

/** Control characters other than line feed and tab become `\xNN`: an escape sequence then shows instead of acting. */
export function printable(text: string): string {
  return text.replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, ' '));
}

/** A value as JSON on one line, or indented, in which no escape sequence acts either: JSON itself lets C1 controls pass. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\x7f-\x9f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

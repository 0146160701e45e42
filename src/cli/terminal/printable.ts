/** Escapes control characters in text from the web or from users, so that it is safe to print on a terminal. */

/** Control characters other than line feed and tab become `\xNN`, so that a terminal shows escape sequences and does not execute them. */
export function printable(text: string): string {
  return text.replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** `printable` text on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, ' '));
}

/** A value as JSON, on one line or indented. C1 control characters are escaped too, which JSON.stringify does not do. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\x7f-\x9f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

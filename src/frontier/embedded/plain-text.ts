/** Text as every SQLite driver gives it back: the package reads a text up to its first NUL only. */
export function plainText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
}

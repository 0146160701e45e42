/** Items as XML, as Scrapy writes them: `<items><item><field>value</field>…</item>…</items>`. */

/** One `<item>`. A list has a `<value>` for each entry; an object has its fields. @param indent spaces of a level; 0: one line */
export function xmlItem(item: Readonly<Record<string, unknown>>, indent: number): string {
  return element('item', item, indent, 1);
}

function element(name: string, value: unknown, indent: number, level: number): string {
  const pad = (depth: number) => (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`);
  const inner = Array.isArray(value)
    ? value.map((each) => element('value', each, indent, level + 1)).join('')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([field, each]) => element(field, each, indent, level + 1))
          .join('')
      : null;
  const start = level === 1 ? ' '.repeat(indent) : pad(level);
  if (inner === null) return `${start}<${elementName(name)}>${xmlText(value)}</${elementName(name)}>`;
  return `${start}<${elementName(name)}>${inner}${inner === '' ? '' : pad(level)}</${elementName(name)}>`;
}

/** An element name for a field: characters that XML does not allow become `_`. */
function elementName(field: string): string {
  const name = field.replace(/[^\p{L}\p{N}_.-]/gu, '_');
  return /^[\p{L}_]/u.test(name) ? name : `_${name}`;
}

function xmlText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return (
    String(value)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // A reader would take it for a line feed.
      .replaceAll('\r', '&#13;')
      // XML 1.0 does not allow these, not even as references.
      .replace(
        /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
        '\ufffd',
      )
  );
}

/** Small pieces of Markdown that the reference pages are made of. */

/** The first line of every generated page. */
export const GENERATED =
  '<!-- Written by "npm run docs" from the source. Change the source, not this page. -->';

/** Plain text as Markdown: `<` and `*` would begin HTML and emphasis. */
export function plain(text: string): string {
  return text.replace(/[<*]/g, '\\$&');
}

/** A table; cells are Markdown already. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(header), `|${header.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** Text as inline code. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A fenced block. */
export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** A page of paragraphs, with the note that it is generated. */
export function page(...parts: readonly string[]): string {
  return `${[GENERATED, ...parts.filter((part) => part !== '')].join('\n\n')}\n`;
}

function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s*\n\s*/g, ' ');
}

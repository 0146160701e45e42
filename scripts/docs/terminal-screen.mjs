// The lines that a terminal shows, with the few control sequences that crawlnode uses: colours, carriage return, cursor up, and
// erasing a line. Every other sequence is ignored.

/** A run of text in one style; `style` is the list of its SGR numbers, such as `1` for bold. */
/** @typedef {{ text: string, style: string }} Span */

export class TerminalScreen {
  /** Each line is a list of cells. */
  #lines = [[]];
  #row = 0;
  #column = 0;
  #style = '';

  write(text) {
    for (const [part] of text.matchAll(/\x1b\[[?\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]/gu)) this.#apply(part);
  }

  /** @returns {Span[][]} the lines, without empty ones at the end */
  lines() {
    const lines = this.#lines.map(spansOf);
    while (lines.length > 0 && lines.at(-1).length === 0) lines.pop();
    return lines;
  }

  #apply(part) {
    if (part === '\r') this.#column = 0;
    else if (part === '\n') this.#moveTo(this.#row + 1);
    else if (part.length > 1 && part.startsWith('\x1b')) this.#control(part.slice(2, -1), part.at(-1));
    else {
      this.#lines[this.#row][this.#column] = { text: part, style: this.#style };
      this.#column++;
    }
  }

  #control(parameters, command) {
    if (command === 'm') this.#style = ['', '0', '22', '39'].includes(parameters) ? '' : parameters;
    if (command === 'A') this.#moveTo(Math.max(0, this.#row - Number(parameters || 1)));
    if (command === 'G') this.#column = Number(parameters || 1) - 1;
    if (command === 'K') {
      if (parameters === '2') this.#lines[this.#row] = [];
      else this.#lines[this.#row].length = Math.min(this.#lines[this.#row].length, this.#column);
    }
  }

  #moveTo(row) {
    this.#row = row;
    this.#lines[row] ??= [];
  }
}

function spansOf(cells) {
  const spans = [];
  for (const { text, style } of Array.from(cells, (cell) => cell ?? { text: ' ', style: '' })) {
    const last = spans.at(-1);
    if (last?.style === style) last.text += text;
    else spans.push({ text, style });
  }
  return spans;
}

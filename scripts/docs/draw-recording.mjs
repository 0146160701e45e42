// A recording of terminals as an SVG that plays by itself, without a script. A reader that does not animate shows its last picture.
const lineHeight = 17;
const charWidth = 7.6;
const padding = 14;
/** How long the last picture stays before the recording begins again. */
const restMs = 6_000;

/**
 * @param {{ title: string, rows: number, snapshots: { atMs: number, lines: { text: string, style: string }[][] }[] }[]} terminals
 * @returns {string} the SVG
 */
export function drawRecording(terminals, columns, endMs) {
  const totalMs = endMs + restMs;
  const keyframes = new Map();
  /** The class of what is visible from one instant to another; null for what is always visible. */
  const classOf = (fromMs, toMs) => {
    const from = ((fromMs / totalMs) * 100).toFixed(1);
    const to = toMs === null ? null : ((toMs / totalMs) * 100).toFixed(1);
    const name = `v${from}-${to ?? 'end'}`.replaceAll('.', '_');
    const steps = `0%{visibility:hidden}${from}%{visibility:visible}`;
    keyframes.set(name, to === null ? steps : `${steps}${to}%{visibility:hidden}`);
    return name;
  };
  let y = padding;
  const drawn = [];
  for (const { title, rows, snapshots } of terminals) {
    drawn.push(`<text class="title" x="${padding}" y="${y + 12}">${title}</text>`);
    y += lineHeight + 4;
    for (let row = 0; row < rows; row++, y += lineHeight) {
      for (const { line, fromMs, toMs } of shownIn(row, snapshots)) {
        const name = classOf(fromMs, toMs);
        const last = toMs === null ? ' last' : '';
        drawn.push(`<text class="${name}${last}" x="${padding}" y="${y + 12}">${spans(line)}</text>`);
      }
    }
    y += padding;
  }
  const width = Math.ceil(columns * charWidth + 2 * padding);
  const seconds = (totalMs / 1000).toFixed(1);
  const animations = [...keyframes].map(
    ([name, steps]) => `@keyframes ${name}{${steps}}.${name}{animation-name:${name}}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img">
<title>Three nodes crawl 600 pages. One is killed, and no item is missing.</title>
<style>
text{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#1f2328;visibility:hidden;animation:${seconds}s step-end infinite}
.title{font-weight:bold;fill:#59636e;visibility:visible}.last{visibility:visible}
.s1{font-weight:bold}.s2{fill:#59636e}.s31{fill:#b3261e}.s32{fill:#116329}.s33{fill:#7d4e00}.s36{fill:#0b5a73}
rect{fill:#f6f8fa;stroke:#d1d9e0}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.title,.s2{fill:#9198a1}.s31{fill:#ff7b72}.s32{fill:#7ee787}.s33{fill:#e3b341}.s36{fill:#76e3ea}rect{fill:#151b23;stroke:#3d444d}}
@media(prefers-reduced-motion:reduce){text{animation:none}}
${animations.join('\n')}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${y - 1}" rx="8"/>
${drawn.join('\n')}
</svg>
`;
}

/** What a row shows, each text with the time from which and to which; `toMs` is null for the text that stays. */
function shownIn(row, snapshots) {
  const shown = [];
  for (const { atMs, lines } of snapshots) {
    const line = lines[row] ?? [];
    const last = shown.at(-1);
    if (last !== undefined && JSON.stringify(last.line) === JSON.stringify(line)) continue;
    if (last !== undefined) last.toMs = atMs;
    shown.push({ line, fromMs: atMs, toMs: null });
  }
  return shown.filter(({ line }) => line.length > 0);
}

function spans(line) {
  return line
    .map(({ text, style }) =>
      style === '' ? escaped(text) : `<tspan class="s${style}">${escaped(text)}</tspan>`,
    )
    .join('');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

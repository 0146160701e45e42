/** Pages nobody would write: real ones mutated, and pieces of markup in any order. The same for the same seed. */

const PIECES = [
  '<a href=/1>',
  '<a href="/2?x=1&amp;y=2">',
  "<A HREF='/3'>",
  '<a href="/4',
  '<a/href=/5>',
  '<a =href=/6>',
  '<a href=/7/>',
  '<area href=/8>',
  '</a>',
  '<p>',
  '</p>',
  '<p title="<a href=/no>">',
  '<div>',
  '</div>',
  '<table><tr><td>',
  '</table>',
  '<li>',
  '<b>',
  '</b>',
  '<br>',
  '</br>',
  '<title>',
  '</title>',
  '<title/>',
  '<title>T &amp; <b>U</b></title>',
  '<base href=/b/>',
  '<base href="/c/?a&amp;b">',
  '<base>',
  '<script>',
  '</script>',
  '<script/>',
  '</script >',
  '<script><!--',
  '<!--<script>',
  '<style>',
  '</style>',
  '<style/>',
  '<textarea>',
  '</textarea>',
  '<xmp>',
  '</xmp>',
  '<iframe>',
  '</iframe>',
  '<noembed>',
  '</noembed>',
  '<noframes>',
  '</noframes>',
  '<noscript>',
  '</noscript>',
  '<plaintext>',
  '<!--',
  '-->',
  '--!>',
  '<!-->',
  '<!--->',
  '<!>',
  '<!x>',
  '<!doctype html>',
  '<![CDATA[',
  ']]>',
  '<?php',
  '?>',
  '</>',
  '</ x>',
  '</1>',
  '</p x="y>">',
  '<svg>',
  '<svg/>',
  '</svg>',
  '<svg><style>',
  '<svg><title>',
  '<svg><desc>',
  '<svg><foreignObject>',
  '</foreignObject>',
  '<g>',
  '</g>',
  '<path d="M0"/>',
  '<math>',
  '</math>',
  '<mi>',
  '</mi>',
  '<annotation-xml encoding=text/html>',
  '<mglyph>',
  '<font color=red>',
  '<font>',
  '\0',
  '\r\n',
  '\r',
  '\x1c/script>',
  '\x0f',
  '<scr\x0fipt>',
  ' ',
  '\n',
  '<',
  '>',
  '"',
  "'",
  '=',
  '/',
  '&',
  '&lt',
  '&#0;',
  '&#128;',
  '&notit;',
  'text',
  'é',
  '\u017f',
  '</a\u017f>',
  '<button>',
  '<h1>',
  '<form>',
  '<input>',
  '<img>',
  '<select>',
  '<option>',
  '</select>',
  '<template>',
  '</template>',
  '<frameset>',
  '<head>',
  '<body>',
];

const PAGE_PIECES = 40;

/** @param real texts of real pages */
export function* fuzzedPages(count, real, seed) {
  const random = randomOf(seed);
  const below = (limit) => Math.floor(random() * limit);
  const piece = () => PIECES[below(PIECES.length)];
  for (let n = 0; n < count; n++) {
    if (real.length === 0 || n % 2 === 0) {
      yield Array.from({ length: 1 + below(PAGE_PIECES) }, piece).join('');
      continue;
    }
    const page = real[below(real.length)];
    const from = below(page.length);
    let text = page.slice(from, from + 4000);
    for (let change = below(8); change >= 0; change--) {
      const at = below(text.length + 1);
      text = text.slice(0, at) + piece() + text.slice(at + (random() < 0.5 ? 0 : below(12)));
    }
    yield text;
  }
}

/** Mulberry32. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Host names in ASCII by IDNA 2003 (RFC 3490, 3491, 3492). Python's `idna` codec uses this standard, and so do Scrapy's
 * fingerprints. Node and browsers follow UTS 46, which differs in a few letters (`ß`, `ς`, joiners).
 */

const LABEL_SEPARATORS = /[.\u3002\uff0e\uff61]/;
const NOT_ASCII = /[^\0-\x7f]/;
/** RFC 3454 table B.1: mapped to nothing. */
const IGNORED = /\u034f|[\u180b-\u180d]|[\ufe00-\ufe0f]|[\u00ad\u1806\u200b-\u200d\u2060\ufeff]/g;
/** RFC 3454 tables C.1.2 and C.2.2 to C.9: characters that are not allowed in a host. */
const PROHIBITED =
  /[\u0340\u0341]|[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\u0080-\u009f\u06dd\u070f\u180e\u200c-\u200f\u2028-\u202e\u2060-\u2063\u206a-\u206f\u2ff0-\u2ffb\ufeff\ufff9-\ufffd\p{Co}\p{Cs}\p{NChar}\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const RIGHT_TO_LEFT_LETTER =
  /(?=\p{L})[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

/**
 * @param host lower case.
 * @returns the host in ASCII. A host that IDNA rejects (an empty or overlong label, a prohibited character) is returned
 * unchanged, as in w3lib.
 */
export function idna2003(host: string): string {
  if (!NOT_ASCII.test(host)) return host;
  const labels = host.split(LABEL_SEPARATORS);
  const rooted = labels.at(-1) === '';
  if (rooted) labels.pop();
  const encoded: string[] = [];
  for (const label of labels) {
    const ascii = labelToAscii(label);
    if (ascii === null) return host;
    encoded.push(ascii);
  }
  return encoded.join('.') + (rooted ? '.' : '');
}

function labelToAscii(label: string): string | null {
  const prepared = NOT_ASCII.test(label) ? prepare(label) : label;
  if (prepared === null) return null;
  if (!NOT_ASCII.test(prepared)) return fits(prepared);
  if (prepared.startsWith('xn--')) return null;
  return fits(`xn--${punycode(prepared)}`);
}

function fits(label: string): string | null {
  return label.length > 0 && label.length < 64 ? label : null;
}

/** Nameprep (RFC 3491): folds and normalises. @returns null for prohibited characters and mixed text directions. */
function prepare(label: string): string | null {
  const folded = Array.from(label.replace(IGNORED, ''), fold).join('').normalize('NFKC');
  if (PROHIBITED.test(folded)) return null;
  if (!RIGHT_TO_LEFT_LETTER.test(folded)) return folded;
  const characters = Array.from(folded);
  const leftToRight = characters.some((c) => /\p{L}/u.test(c) && !RIGHT_TO_LEFT.test(c));
  const ends = [characters[0], characters.at(-1)];
  return leftToRight || !ends.every((c) => c !== undefined && RIGHT_TO_LEFT.test(c)) ? null : folded;
}

/** RFC 3454 table B.2: case folding, repeated when the normalisation produces new capitals. */
function fold(character: string): string {
  const once = caseFold(character);
  const normal = once.normalize('NFKC');
  const twice = Array.from(normal, caseFold).join('').normalize('NFKC');
  return normal === twice ? once : twice;
}

function caseFold(character: string): string {
  // The dotless i would become a dotted one, since its upper case is I.
  if (character === 'ı') return character;
  return character.toUpperCase().toLowerCase();
}

/** RFC 3492, section 6.3, for a label that is not all ASCII. */
function punycode(label: string): string {
  const points = Array.from(label, (c) => c.codePointAt(0) as number);
  const basic = points.filter((point) => point < 128);
  let output = String.fromCharCode(...basic) + (basic.length > 0 ? '-' : '');
  let n = 128;
  let delta = 0;
  let bias = 72;
  for (let handled = basic.length; handled < points.length; ) {
    const next = Math.min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta += 1;
      if (point !== n) continue;
      output += variableLength(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    n += 1;
  }
  return output;
}

function variableLength(delta: number, bias: number): string {
  let text = '';
  let rest = delta;
  for (let k = 36; ; k += 36) {
    const threshold = Math.min(Math.max(k - bias, 1), 26);
    if (rest < threshold) return text + digit(rest);
    text += digit(threshold + ((rest - threshold) % (36 - threshold)));
    rest = Math.floor((rest - threshold) / (36 - threshold));
  }
}

function adapt(delta: number, handled: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : delta >> 1;
  rest += Math.floor(rest / handled);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}

function digit(value: number): string {
  return String.fromCharCode(value < 26 ? value + 97 : value + 22);
}

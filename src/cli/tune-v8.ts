/** What V8 is told of a process that crawls: for hours, with a small heap, on code that runs a thousand times a second. */
import v8 from 'node:v8';

/**
 * How far the old generation may grow between two full collections, in % of what lives. By V8's own measure a node whose
 * 30 MB live takes 205 MB of memory; with this 175 MB, and 4 % more CPU in the first second (Node 20). With 30 % it takes
 * 160 MB, and 20 % more CPU while it warms up.
 */
const HEAP_GROWTH = '--heap-growing-percent=100';

/**
 * How much code a function runs, in bytes, between two looks at whether to optimise it: three times V8's own. Optimising
 * took a quarter of the CPU of a crawl of 2,000 pages, mostly for functions that were done soon after. Measured on Node
 * 20, alternating: 8 % less CPU over 2,000 small pages and over 528 real ones, no difference found over 10,000. Eight
 * times costs longer crawls what it saves shorter ones.
 */
const OPTIMISE_LATER = '--interrupt-budget=200000';

/**
 * What the two halves of the young generation may take together, in bytes. V8 doubles them for as long as enough survives,
 * to 34 MB on Node 20 and 134 on Node 24. Held at this, alternating, the most memory of a crawl of 528 real pages and of
 * 10,000 small ones, in MB: 187 → 167 and 174 → 157 on Redis, 200 → 156 and 174 → 157 on the embedded engine; on Node 24
 * 296 → 208 over small pages, 305 → 207 over link-heavy ones, 239 → 210 over pages of 600 KB; CPU the same everywhere.
 * Held at 34 MB there: 234, 225, 231; at 8 MB it takes no less.
 */
const YOUNG_BYTES = 16 * 1024 * 1024;
/** While our own code is loaded, which makes it grow within some 30 ms, and threads start. A look costs 6 to 14 µs. */
const FIRST_MS = 3_000;
const FIRST_EVERY_MS = 5;
const LATER_EVERY_MS = 100;

/**
 * From here on V8 may be told what concerns code that runs. Told before, it refuses the compiled code that Node brings for
 * its own modules, in each thread, as it does any that was compiled under other flags: 75 ms of CPU more for a start of 450.
 */
const LOADED_MS = 500;

/**
 * Flags that V8 reads while it runs, from now on; the bounds of the young generation are not among them. To set them once
 * would not do: each new thread, those of hooks and heartbeat among them, has V8 set some back for the whole process, as
 * `untuneV8` does; and an idle process gives the young generation's memory back, within a minute down to 1 MB. Where that
 * may not grow again, what comes next takes a node a fifth more CPU.
 */
export function tuneV8(): void {
  const hold = isYoungChosen() ? () => {} : holdYoung;
  hold();
  const first = setInterval(hold, FIRST_EVERY_MS).unref();
  setTimeout(setForCrawling, LOADED_MS).unref();
  const later = () => {
    clearInterval(first);
    setInterval(() => {
      hold();
      setForCrawling();
    }, LATER_EVERY_MS).unref();
  };
  setTimeout(later, FIRST_MS).unref();
}

function setForCrawling(): void {
  v8.setFlagsFromString(HEAP_GROWTH);
  // Later ones have no such flag, and a compiler between (Maglev) that makes optimising later no cheaper.
  if (hasInterruptBudget) v8.setFlagsFromString(OPTIMISE_LATER);
}

/**
 * As V8 is by itself, until it is next looked after: compiled code is only taken back under the flags of then. From another
 * thread that may be at once, which costs it compiling anew.
 */
export function untuneV8(): void {
  for (const flag of ['--semi-space-growth-factor=2', '--heap-growing-percent=0'])
    v8.setFlagsFromString(flag);
  if (hasInterruptBudget) v8.setFlagsFromString('--interrupt-budget=67584');
}

const hasInterruptBudget = Number.parseInt(process.versions.v8, 10) < 12;

/** By this factor it grows at a time: by nothing, once it is large enough. */
function holdYoung(): void {
  const young = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const isLarge = young !== undefined && young.space_size >= YOUNG_BYTES;
  v8.setFlagsFromString(`--semi-space-growth-factor=${isLarge ? 1 : 2}`);
}

/** `node --max-semi-space-size=…` or the same in NODE_OPTIONS: whoever says so knows better. */
function isYoungChosen(): boolean {
  return [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((options) => /semi.space/.test(options));
}

/**
 * I4: each jar has as many cookies as it says (`lua/cookies/cookies.lua`). They are read in steps. A jar whose version is the
 * same before and after was read whole; one that changed meanwhile is read again, and is not judged when it always changes.
 */
import { int, list, text } from '../connection/reply.js';
import { pairs, walk } from '../connection/scan.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import { steps } from '../read/steps.js';

const [STEP, LOOKS] = [100, 3];

/** What a walk found of one jar. */
interface Jar {
  stored: number;
  /** The number of cookies by the fields that hold them. */
  readonly sets: Map<string, number>;
}

/** @returns a sentence for each breach. */
export async function checkCookies(crawl: CrawlAccess): Promise<string[]> {
  const breaches: string[] = [];
  const judged = new Set<string>();
  for (let look = 0; look < LOOKS; look += 1) {
    const before = await versionsOf(crawl);
    const jars = await readJars(crawl, breaches);
    const after = await versionsOf(crawl);
    const names = [...new Set([...before.keys(), ...after.keys(), ...jars.keys()])];
    for (const name of names) {
      if (judged.has(name) || before.get(name) !== after.get(name)) continue;
      judged.add(name);
      const { stored, sets } = jars.get(name) ?? { stored: 0, sets: new Map<string, number>() };
      const real = [...sets.values()].reduce((sum, size) => sum + size, 0);
      if (stored === real && after.has(name) === sets.size > 0) continue;
      breaches.push(
        `I4: the cookie jar ${JSON.stringify(name)} is said to have ${stored} cookies and has ${real}`,
      );
    }
    if (names.every((name) => judged.has(name))) break;
  }
  return breaches;
}

async function versionsOf({ connection, options }: CrawlAccess): Promise<Map<string, string>> {
  const key = internalKey(options.keys, 'jars');
  const versions = new Map<string, string>();
  const pages = walk(
    (question) => connection.patiently(question),
    (client, cursor) => client.zscan(key, cursor, 'COUNT', STEP),
  );
  for await (const page of pages) for (const [jar, version] of pairs(page)) versions.set(jar, version);
  return versions;
}

async function readJars({ call }: CrawlAccess, breaches: string[]): Promise<Map<string, Jar>> {
  const jars = new Map<string, Jar>();
  for await (const step of steps(call, 'examine', { place: 'cookies' }, STEP)) {
    breaches.push(...list(step.breaches).map(text));
    for (const [field, count] of pairs(list(step.counts))) {
      const [name = '', domain] = text(field).split('\0');
      const jar = jars.get(name) ?? { stored: 0, sets: new Map<string, number>() };
      jars.set(name, jar);
      if (domain === undefined) jar.stored = int(count);
      else jar.sets.set(text(field), int(count));
    }
  }
  return jars;
}

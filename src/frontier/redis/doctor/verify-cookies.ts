/**
 * The counts and versions of the cookies in Redis (`lua/cookies/cookies.lua`). They are read in steps. A jar whose version
 * is the same before and after was read whole; one that changed meanwhile is read again, and is not judged when it always changes.
 */
import { encodeCookies } from '../../../http/cookies/stored-cookie.js';
import type { FrontierKeys } from '../../open-options.js';
import { repliesOf } from '../connection/client.js';
import { type Ask, pairs, walk } from '../connection/scan.js';
import { cookieSet } from '../cookies/cookie-reply.js';
import { internalKey } from '../keys.js';

const [STEP, LOOKS] = [100, 3];

/** What a walk found in one jar. */
interface Jar {
  /** Its fields that hold cookies. */
  readonly sets: Map<string, number>;
  readonly breaches: Set<string>;
}

/** @returns a sentence for each breach. */
export async function checkCookies(ask: Ask, keys: FrontierKeys): Promise<string[]> {
  const breaches: string[] = [];
  const judged = new Set<string>();
  for (let look = 0; look < LOOKS; look += 1) {
    const versions = await versionsOf(ask, keys);
    const jars = await readJars(ask, keys);
    let hasChanged = false;
    for (const name of new Set([...versions.keys(), ...jars.keys()])) {
      if (judged.has(name)) continue;
      const jar = jars.get(name) ?? { sets: new Map(), breaches: new Set() };
      const found = await judge(ask, keys, name, jar, versions.get(name) ?? null);
      if (found === null) hasChanged = true;
      else {
        judged.add(name);
        breaches.push(...found);
      }
    }
    if (!hasChanged) break;
  }
  return breaches;
}

async function versionsOf(ask: Ask, keys: FrontierKeys): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  const pages = walk(ask, (client, cursor) => client.zscan(internalKey(keys, 'jars'), cursor, 'COUNT', STEP));
  for await (const page of pages) {
    for (const [jar, version] of pairs(page)) versions.set(jar, version);
  }
  return versions;
}

async function readJars(ask: Ask, keys: FrontierKeys): Promise<Map<string, Jar>> {
  const jars = new Map<string, Jar>();
  const of = (name: string): Jar => {
    const jar = jars.get(name) ?? { sets: new Map<string, number>(), breaches: new Set<string>() };
    jars.set(name, jar);
    return jar;
  };
  const pages = walk(ask, (client, cursor) =>
    client.hscan(internalKey(keys, 'cookies'), cursor, 'COUNT', STEP),
  );
  for await (const page of pages) {
    for (const [field, json] of pairs(page)) {
      if (!field.includes('\0')) {
        of(field);
        continue;
      }
      const { jar, domain, cookies } = cookieSet(field, json);
      const { sets, breaches } = of(jar);
      sets.set(field, lengthOf(json));
      if (lengthOf(json) === cookies.length) continue;
      breaches.add(
        `I4: cookies of ${domain} cannot be read (${encodeCookies(cookies).length} of ${json.length} bytes can)`,
      );
    }
  }
  return jars;
}

/** @returns null for a jar that has changed since the version. */
async function judge(
  ask: Ask,
  keys: FrontierKeys,
  name: string,
  { sets, breaches }: Jar,
  version: string | null,
): Promise<string[] | null> {
  const fields = [...sets.keys()];
  const [current, count, ...versions] = (await ask((client) => {
    const transaction = client.multi();
    transaction.zscore(internalKey(keys, 'jars'), name).hget(internalKey(keys, 'cookies'), name);
    for (const field of fields) transaction.zscore(internalKey(keys, 'cookie-versions'), field);
    return repliesOf(transaction);
  })) as (string | null)[];
  if (current !== version) return null;
  const found = [...breaches];
  for (const [n, field] of fields.entries()) {
    if (versions[n] !== null) continue;
    found.push(
      `I4: the cookies of ${cookieSet(field, '[]').domain} have no version: nodes would never read them`,
    );
  }
  const [stored, real] = [Number(count ?? 0), [...sets.values()].reduce((sum, size) => sum + size, 0)];
  if (stored !== real || (current !== null) !== sets.size > 0) {
    found.push(
      `I4: the cookie jar ${JSON.stringify(name)} is said to have ${stored} cookies and has ${real}`,
    );
  }
  return found;
}

function lengthOf(json: string): number {
  try {
    const values: unknown = JSON.parse(json);
    return Array.isArray(values) ? values.length : 0;
  } catch {
    return 0;
  }
}

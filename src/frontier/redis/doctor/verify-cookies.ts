/** The counts and versions of the cookies in Redis (`lua/cookies/cookies.lua`), checked at one instant. */
import { encodeCookies } from '../../../http/cookies/stored-cookie.js';
import type { FrontierKeys } from '../../open-options.js';
import { type Client, repliesOf } from '../connection/client.js';
import { cookieSet } from '../cookies/cookie-reply.js';
import { internalKey } from '../keys.js';

/** @returns a sentence for each breach. */
export async function checkCookies(client: Client, keys: FrontierKeys): Promise<string[]> {
  const transaction = client
    .multi()
    .hgetall(internalKey(keys, 'cookies'))
    .zrange(internalKey(keys, 'cookie-versions'), 0, -1)
    .zrange(internalKey(keys, 'jars'), 0, -1);
  const [fields, versions, jars] = (await repliesOf(transaction)) as [
    Record<string, string>,
    string[],
    string[],
  ];
  const breaches: string[] = [];
  const versioned = new Set(versions);
  const counts = new Map<string, number>();
  for (const [field, json] of Object.entries(fields)) {
    if (!field.includes('\0')) continue;
    const { jar, domain, cookies } = cookieSet(field, json);
    if (!versioned.has(field)) {
      breaches.push(`I4: the cookies of ${domain} have no version: nodes would never read them`);
    }
    if (lengthOf(json) !== cookies.length) {
      breaches.push(
        `I4: cookies of ${domain} cannot be read (${encodeCookies(cookies).length} of ${json.length} bytes can)`,
      );
    }
    counts.set(jar, (counts.get(jar) ?? 0) + lengthOf(json));
  }
  for (const jar of new Set([
    ...counts.keys(),
    ...jars,
    ...Object.keys(fields).filter((field) => !field.includes('\0')),
  ])) {
    const [stored, real] = [Number(fields[jar] ?? 0), counts.get(jar) ?? 0];
    if (stored !== real || jars.includes(jar) !== counts.has(jar)) {
      breaches.push(
        `I4: the cookie jar ${JSON.stringify(jar)} is said to have ${stored} cookies and has ${real}`,
      );
    }
  }
  return breaches;
}

function lengthOf(json: string): number {
  try {
    const values: unknown = JSON.parse(json);
    return Array.isArray(values) ? values.length : 0;
  } catch {
    return 0;
  }
}

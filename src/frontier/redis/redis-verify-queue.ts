/** The chunks of the queue (see `lua/parts/chunks.lua`): read, and each checked for what a script relies on. */

const ENTRY_BYTES = 32;
const ORDER_BYTES = 12;
const DOMAIN_BYTES = 4;

export interface Chunk {
  /** Domain number and bound; the number alone for the first chunk of a domain. */
  readonly name: Buffer;
  readonly domain: number;
  readonly orders: readonly Buffer[];
  readonly ids: readonly string[];
}

/**
 * @param goneOf how many entries of a domain's first chunk have gone, by its number
 * @returns the chunks in order: by domain, its first one before those that follow.
 */
export function unpackQueue(
  names: readonly Buffer[],
  texts: readonly Buffer[],
  goneOf: (domain: number) => number,
): Chunk[] {
  const chunks = names.map((name, n) => {
    const gone = name.length === DOMAIN_BYTES ? goneOf(name.readUInt32BE(0)) : 0;
    return unpackChunk(name, (texts[n] as Buffer).subarray(gone * ENTRY_BYTES));
  });
  return chunks.sort((a, b) => Buffer.compare(a.name, b.name));
}

function unpackChunk(name: Buffer, text: Buffer): Chunk {
  const orders: Buffer[] = [];
  const ids: string[] = [];
  for (let at = 0; at + ENTRY_BYTES <= text.length; at += ENTRY_BYTES) {
    orders.push(text.subarray(at, at + ORDER_BYTES));
    ids.push(text.toString('hex', at + ORDER_BYTES, at + ENTRY_BYTES));
  }
  return { name, domain: name.readUInt32BE(0), orders, ids };
}

/** Of each domain by its number: the order of its first request and the bound of its last chunk, hex. */
export function endsOf(queue: readonly Chunk[]): Map<number, { head: string; tail: string }> {
  const ends = new Map<number, { head: string; tail: string }>();
  for (const { name, domain, orders } of queue) {
    const head = ends.get(domain)?.head ?? orders[0]?.toString('hex') ?? '';
    ends.set(domain, { head, tail: name.toString('hex', DOMAIN_BYTES) });
  }
  return ends;
}

/** Part of I7: a request out of order would wait behind others, one in a chunk that nothing leads to for ever. */
export function checkQueue(queue: readonly Chunk[], following: readonly Buffer[]): string[] {
  const breaches: string[] = [];
  const indexed = new Set(following.map((name) => name.toString('hex')));
  const last = new Map<number, Buffer>();
  const headed = new Set<number>();
  for (const { name, domain, orders } of queue) {
    const bound = name.subarray(DOMAIN_BYTES);
    const where = `of domain number ${domain}`;
    if (bound.length === 0) headed.add(domain);
    else if (!indexed.delete(name.toString('hex'))) breaches.push(`I7: a chunk ${where} is not in the index`);
    if (orders.length === 0) breaches.push(`I7: a chunk ${where} holds no request`);
    for (const order of orders) {
      const previous = last.get(domain);
      if (previous !== undefined && Buffer.compare(previous, order) > 0)
        breaches.push(`I7: requests ${where} are out of order`);
      if (Buffer.compare(bound, order) > 0)
        breaches.push(`I7: a chunk ${where} holds a request before its bound`);
      last.set(domain, order);
    }
  }
  for (const domain of last.keys()) {
    if (!headed.has(domain)) breaches.push(`I7: the first chunk of domain number ${domain} is missing`);
  }
  if (indexed.size > 0) breaches.push(`I7: ${indexed.size} chunks are in the index and not in the queue`);
  return breaches;
}

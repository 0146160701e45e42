/** A domain's politeness as the store keeps it: its clock, its limits, and where it stands. */
import { type DomainId, domainId } from './keys.js';
import { type Order, orderBytes, readOrder } from './order.js';

/**
 * `ready`: its best request may be leased · `waiting`: it has requests and waits for its time · `full`: as many
 * leased as allowed · `idle`: nothing pending. Invariant I7 is that pending requests exclude `idle`.
 */
export type Place = 'idle' | 'ready' | 'waiting' | 'full';

const places: readonly Place[] = ['idle', 'ready', 'waiting', 'full'];

export interface DomainEntry {
  readonly name: string;
  /** What stands for the name. */
  readonly id: DomainId;
  place: Place;
  /** Leased requests. */
  active: number;
  /** Requests in its queue; suspects wait apart. */
  queued: number;
  /** Not before this instant, by its delay. */
  nextAtMs: number;
  /** Not before this instant, because the site said so. */
  blockedUntilMs: number;
  /** Instead of the crawl's delay; negative for none. */
  delaySettingMs: number;
  delayRobotsMs: number;
  delayAutoMs: number;
  pages: number;
  /** When it was last leased from; a delay that is raised counts from there. */
  lastAtMs: number;
  /** Its best request; meaningless when nothing is queued. */
  head: Order;
  /** Under which order it stands among the ready, and under which instant among the waiting or the idle. */
  placedOrder: Order;
  placedAtMs: number;
}

const NO_ORDER: Order = { rank: 0, turn: 0 };

/** A domain met for the first time. */
export function newDomain(name: string): DomainEntry {
  return {
    name,
    id: domainId(name),
    place: 'idle',
    active: 0,
    queued: 0,
    nextAtMs: 0,
    blockedUntilMs: 0,
    delaySettingMs: -1,
    delayRobotsMs: 0,
    delayAutoMs: 0,
    pages: 0,
    lastAtMs: 0,
    head: NO_ORDER,
    placedOrder: NO_ORDER,
    placedAtMs: 0,
  };
}

const HEAD = 104;

/** To bytes. */
export function encodeDomain(domain: DomainEntry): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD + Buffer.byteLength(domain.name));
  bytes.writeUInt32LE(places.indexOf(domain.place), 0);
  bytes.writeUInt32LE(domain.active, 4);
  bytes.writeDoubleLE(domain.queued, 8);
  bytes.writeDoubleLE(domain.nextAtMs, 16);
  bytes.writeDoubleLE(domain.blockedUntilMs, 24);
  bytes.writeDoubleLE(domain.delaySettingMs, 32);
  bytes.writeDoubleLE(domain.delayRobotsMs, 40);
  bytes.writeDoubleLE(domain.delayAutoMs, 48);
  bytes.writeDoubleLE(domain.pages, 56);
  bytes.writeDoubleLE(domain.lastAtMs, 64);
  bytes.writeDoubleLE(domain.placedAtMs, 72);
  bytes.set(orderBytes(domain.head), 80);
  bytes.set(orderBytes(domain.placedOrder), 92);
  bytes.write(domain.name, HEAD, 'utf8');
  return bytes;
}

/** From bytes; `known` where it was found by what stands for its name. */
export function decodeDomain(bytes: Buffer, known?: DomainId): DomainEntry {
  const name = bytes.toString('utf8', HEAD);
  return {
    name,
    id: known ?? domainId(name),
    place: places[bytes.readUInt32LE(0)] ?? 'idle',
    active: bytes.readUInt32LE(4),
    queued: bytes.readDoubleLE(8),
    nextAtMs: bytes.readDoubleLE(16),
    blockedUntilMs: bytes.readDoubleLE(24),
    delaySettingMs: bytes.readDoubleLE(32),
    delayRobotsMs: bytes.readDoubleLE(40),
    delayAutoMs: bytes.readDoubleLE(48),
    pages: bytes.readDoubleLE(56),
    lastAtMs: bytes.readDoubleLE(64),
    placedAtMs: bytes.readDoubleLE(72),
    head: readOrder(bytes, 80),
    placedOrder: readOrder(bytes, 92),
  };
}

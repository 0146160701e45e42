/**
 * The proxies of a node, which of them a request uses, and which of them rest because they failed. This knowledge is the
 * node's own: another machine may reach a proxy that this one cannot.
 */
import type { ProxyAddress } from '../../settings/proxy-url.js';

/** A rest doubles with each failure in a row, up to this factor. */
const MAX_REST_FACTOR = 16;
/**
 * A tunnel may be refused because of the site. A proxy that refuses so many sites in a row, without any success, rests like
 * one that cannot be reached.
 */
const REFUSED_SITES = 3;

interface Member {
  readonly proxy: ProxyAddress;
  readonly hash: number;
  failures: number;
  restsUntilMs: number;
  readonly refusedSites: Set<string>;
}

export class ProxyPool {
  readonly #members: readonly Member[];
  readonly #restMs: number;
  #next: number;

  /** @param first index of the proxy that is used first; nodes start at different ones. */
  constructor(proxies: readonly ProxyAddress[], restMs: number, first = 0) {
    this.#members = proxies.map((proxy) => ({
      proxy,
      hash: hashOf(proxy.url),
      failures: 0,
      restsUntilMs: 0,
      refusedSites: new Set(),
    }));
    this.#restMs = restMs;
    this.#next = first;
  }

  /**
   * The proxy of a request. Of resting ones only that whose rest ends first is taken, and only if the request has tried no
   * other: a request never falls back to a direct connection.
   * @param key requests of the same key use the same proxy while it does not rest; null takes them in turn.
   * @param tried proxies that have failed for this request.
   * @returns null when there is no other proxy to try.
   */
  choose(key: string | null, tried: readonly ProxyAddress[], nowMs: number): ProxyAddress | null {
    const left = this.#members.filter(({ proxy }) => !tried.includes(proxy));
    const awake = left.filter(({ restsUntilMs }) => restsUntilMs <= nowMs);
    if (awake.length > 0) return (key === null ? this.#inTurn(nowMs, tried) : highest(awake, key)).proxy;
    if (tried.length > 0 || left.length === 0) return null;
    return left.reduce((soonest, next) => (next.restsUntilMs < soonest.restsUntilMs ? next : soonest)).proxy;
  }

  /** In how many ms the first proxy may be used again; 0 when one may be used now. */
  waitMs(nowMs: number): number {
    return Math.max(0, Math.min(...this.#members.map(({ restsUntilMs }) => restsUntilMs)) - nowMs);
  }

  /**
   * A proxy could not be reached, or did not accept the credentials.
   * @returns how long it rests from now on; null when it was resting already, so that requests that failed together count once.
   */
  failed(proxy: ProxyAddress, nowMs: number): number | null {
    const member = this.#of(proxy);
    if (member === undefined || member.restsUntilMs > nowMs) return null;
    const restMs = this.#restMs * Math.min(MAX_REST_FACTOR, 2 ** member.failures);
    member.failures += 1;
    member.restsUntilMs = nowMs + restMs;
    member.refusedSites.clear();
    return restMs;
  }

  /** A proxy did not connect to a site. @returns as `failed`; null also when it is not yet held against the proxy. */
  refused(proxy: ProxyAddress, site: string, nowMs: number): number | null {
    const member = this.#of(proxy);
    member?.refusedSites.add(site);
    return member && member.refusedSites.size >= REFUSED_SITES ? this.failed(proxy, nowMs) : null;
  }

  /** @returns whether the proxy had failed before. */
  succeeded(proxy: ProxyAddress): boolean {
    const member = this.#of(proxy);
    if (member === undefined) return false;
    const hadFailed = member.failures > 0;
    member.failures = 0;
    member.restsUntilMs = 0;
    if (member.refusedSites.size > 0) member.refusedSites.clear();
    return hadFailed;
  }

  #of(proxy: ProxyAddress): Member | undefined {
    return this.#members.find((member) => member.proxy === proxy);
  }

  #inTurn(nowMs: number, tried: readonly ProxyAddress[]): Member {
    for (;;) {
      const member = this.#members[this.#next % this.#members.length]!;
      this.#next += 1;
      if (member.restsUntilMs <= nowMs && !tried.includes(member.proxy)) return member;
    }
  }
}

/**
 * Rendezvous hashing: of all proxies the one with the highest hash together with the key. When a proxy is added or removed, only
 * the keys of that proxy move.
 */
function highest(members: readonly Member[], key: string): Member {
  const keyHash = hashOf(key);
  const scoreOf = ({ hash }: Member) => mixed(hash ^ keyHash);
  return members.reduce((best, next) => (scoreOf(next) > scoreOf(best) ? next : best));
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** The finalizer of MurmurHash3, which spreads similar numbers. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

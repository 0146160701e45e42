/** The verbs of robots.txt in Redis, and of requests that have no lease. */
import { countersInBounds, delayInBounds } from '../clamp-values.js';
import type { Frontier } from '../frontier.js';
import type { RobotsAnswer, RobotsClaim, RobotsResult } from '../robots/robots-state.js';
import type { Call } from './connection/calls.js';
import type { Arguments } from './connection/lua-message.js';
import { int, named, text } from './connection/reply.js';
import { domainName } from './request-columns.js';

export class RedisRobots {
  readonly #call: Call;
  readonly #crawl: () => string;

  /** @param crawl the id of the crawl that this client has joined. */
  constructor(call: Call, crawl: () => string) {
    this.#call = call;
    this.#crawl = crawl;
  }

  async ask(...[origin, domain, isFetching]: Parameters<Frontier['robots']>): Promise<RobotsAnswer> {
    const args = { origin, domain: domainName(domain), isFetching, crawl: this.#crawl() };
    const answer = named(await this.#call('robots', args));
    const forMs = int(answer.forMs);
    const kind = text(answer.kind) as RobotsAnswer['kind'];
    switch (kind) {
      case 'rules':
        return { kind, text: text(answer.text), forMs };
      case 'unreachable':
        return { kind, why: text(answer.text), forMs };
      case 'wait':
        return { kind, forMs };
      case 'fetch': {
        const url = answer.url == null ? null : text(answer.url);
        const numbers = {
          hops: int(answer.hops),
          failures: int(answer.failures),
          delayMs: int(answer.delayMs),
        };
        return { kind, claim: { origin, domain, token: String(int(answer.call)), url, ...numbers } };
      }
    }
  }

  async store(
    { origin, domain, token }: RobotsClaim,
    result: RobotsResult,
    stats: Readonly<Record<string, number>>,
  ): Promise<boolean> {
    const counters = countersInBounds(stats);
    const args = {
      ...{ origin, domain: domainName(domain), claim: Number(token), crawl: this.#crawl() },
      ...resultArguments(result),
      names: counters.map(([name]) => name),
      amounts: counters.map(([, amount]) => amount),
    };
    return int(await this.#call('store_robots', args)) === 1;
  }

  async takeInstant(domain: string, withinMs: number): Promise<number | null> {
    const args = { domain: domainName(domain), withinMs: delayInBounds(withinMs), random: Math.random() };
    const inMs = await this.#call('take_instant', args);
    return inMs == null ? null : int(inMs);
  }
}

function resultArguments(result: RobotsResult): Arguments {
  const { kind } = result;
  switch (kind) {
    case 'rules': {
      const { text, forMs, delayMs } = result;
      return { kind, text, forMs: delayInBounds(forMs), delayMs: delayInBounds(delayMs) };
    }
    case 'unreachable':
      return { kind, text: result.why, forMs: delayInBounds(result.forMs) };
    case 'failed':
      return { kind, afterMs: delayInBounds(result.afterMs) };
    case 'later': {
      const { url, hops, afterMs } = result;
      return { kind, url: url ?? undefined, hops, afterMs: delayInBounds(afterMs) };
    }
  }
}

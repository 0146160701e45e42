/**
 * A crawl on several Redis servers, divided by domain: a link to a domain of another server becomes a seed there. SHARDS in the
 * environment has the addresses of all servers, with commas and in the same order for all nodes; REDIS_URL is that of one of them.
 */
import { createHash } from 'node:crypto';
import {
  type CrawlContext,
  Request,
  type Response,
  type SpiderMiddleware,
  type SpiderResult,
} from 'crawlnode';
import { Redis } from 'ioredis';

const shards = (process.env.SHARDS ?? '').split(',');

/** The address of the server for a URL: the same on all machines. */
export function shardOf(url: string): string {
  const hash = createHash('sha1').update(new URL(url).hostname).digest();
  return shards[hash.readUInt32BE() % shards.length]!;
}

function seedOf({ url, callback, meta, priority }: Request): string {
  const name = typeof callback === 'function' ? callback.name : (callback ?? 'parse');
  return JSON.stringify({ url, callback: name, meta, priority });
}

export default class Shards implements SpiderMiddleware {
  own = '';
  seedsKey = '';
  servers = new Map<string, Redis>();
  handedOver = new Set<string>();

  open({ settings, spider }: CrawlContext) {
    this.own = settings.REDIS_URL ?? '';
    this.seedsKey = `${spider}:start_urls`;
    if (!shards.includes(this.own)) throw new Error(`REDIS_URL is not in SHARDS: ${shards.length} servers`);
    // A server that is away is waited for, at most CALLBACK_TIMEOUT: then the page fails, and none of its links is lost.
    for (const url of shards) {
      const server = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null });
      server.on('error', () => {}); // It connects again by itself.
      this.servers.set(url, server);
    }
  }

  /** Before the page is committed: a node that is killed in between hands its links over once more. */
  async *processSpiderOutput(_: Response, results: AsyncIterable<SpiderResult>) {
    const seeds = new Map<string, Map<string, string>>(shards.map((shard) => [shard, new Map()]));
    for await (const result of results) {
      const shard = result instanceof Request ? shardOf(result.url) : this.own;
      if (!(result instanceof Request) || shard === this.own) yield result;
      else if (!this.handedOver.has(result.url)) seeds.get(shard)!.set(result.url, seedOf(result));
    }
    for (const [shard, found] of seeds) {
      if (found.size > 0) await this.servers.get(shard)!.rpush(this.seedsKey, ...found.values());
      for (const url of found.keys()) this.handedOver.add(url);
    }
    if (this.handedOver.size > 1e6) this.handedOver.clear();
  }

  async close() {
    for (const server of this.servers.values()) server.disconnect();
  }
}

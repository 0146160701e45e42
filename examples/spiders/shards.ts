/** A crawl on several Redis servers, each with the domains of its shard: examples/middlewares/shards.ts hands links over. */
import { Request, type Response, Spider } from 'crawlnode';
import { shardOf } from '../middlewares/shards.js';

export default class Shards extends Spider {
  name = 'shards';
  customSettings = {
    SPIDER_MIDDLEWARES: { './middlewares/shards.ts': 450 },
    SEEDS_FILTERED: true, // A link that several shards hand over is fetched once.
  };

  *start() {
    const start = this.args.site ?? 'http://127.0.0.1:8000';
    if (shardOf(start) === process.env.REDIS_URL) yield new Request(start);
  }

  *parse(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() };
    yield* response.followAll('a');
  }
}

/** A crawl over three partitions keeps the contract of a frontier; what differs is in `partitioned-frontier.test.ts`. */
import { frontierContract, partitionChapters } from '../../frontier-contract/frontier-contract.js';
import { partitionedWorld } from '../../helpers/redis/partitioned-world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';

const { server } = await redisOfFile();

frontierContract('partitioned', async () => partitionedWorld(server.url, 3), partitionChapters);

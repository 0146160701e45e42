import { frontierContract } from '../../frontier-contract/frontier-contract.js';
import { partitionedWorld } from '../../helpers/redis/partitioned-world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';

const { server } = await redisOfFile();

frontierContract('partitioned', async () => partitionedWorld(server.url, 3));

import { frontierContract } from '../../frontier-contract/frontier-contract.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { partitionedWorld } from '../../helpers/redis/partitioned-world.js';

const { server } = await redisOfFile();

frontierContract('partitioned', async () => partitionedWorld(server.url, 3));

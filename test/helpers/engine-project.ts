/** A project in a temporary folder whose crawl lives on one of the two engines, anew for each test. */
import { afterEach, beforeEach } from 'vitest';
import { createProject, type Project } from './project.js';
import { type RedisServer, startRedis } from './redis-server.js';

export const engines = ['redis', 'embedded'] as const;
export type Engine = (typeof engines)[number];

/** Its source. */
export const newsSpider = `
import { Spider } from 'crawlnode';
export default class extends Spider { name = 'news'; }
`;

/** What a test finds; filled before each of the tests around. */
export interface EngineProject {
  project: Project;
  /** Null on the embedded engine. */
  redis: RedisServer | null;
  /** Where `openOptions` finds the crawl: the URL of the Redis, or the folder. */
  place(): string;
}

/** Call it inside a `describe`: each test gets a project with the spider `news`, and nothing of it stays. */
export function projectOn(engine: Engine): EngineProject {
  const here = {} as EngineProject;
  beforeEach(async () => {
    here.redis = engine === 'redis' ? await startRedis() : null;
    here.project = await createProject({
      settings: here.redis === null ? {} : { REDIS_URL: here.redis.url },
      files: { 'spiders/news.ts': newsSpider },
    });
    here.place = () => here.redis?.url ?? here.project.path('.crawlnode');
  });
  afterEach(async () => {
    await here.project.remove();
    await here.redis?.stop();
  });
  return here;
}

/** A project in a temporary folder whose crawl lives on one of the two engines, anew for each test. */
import { afterEach, beforeEach, describe } from 'vitest';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import type { Frontier } from '../../src/frontier/frontier.js';
import { openOptions } from './open-options.js';
import { createProject, type Project } from './project.js';
import { type RedisServer, startRedis } from './redis/redis-server.js';

export const engines = ['redis', 'embedded'] as const;
export type Engine = (typeof engines)[number];

/** A bound for tests that start many processes on a machine that is busy. */
const timeout = 180_000;

/**
 * Like `describe`, but it runs beside the other groups of its file. Within it one test runs at a time. For tests that wait for
 * processes of their own most of the time.
 */
export function describeBeside(name: string, tests: () => void): void {
  describe.concurrent(name, { timeout }, () => {
    describe.sequential('one at a time', tests);
  });
}

/** A group of tests for each engine, beside each other. @param name with `%s` for the engine */
export function onEachEngine(name: string, tests: (engine: Engine) => void): void {
  for (const engine of engines) describeBeside(name.replace('%s', engine), () => tests(engine));
}

/** The source of the spider `news`. */
export const newsSpider = `
import { Spider } from 'crawlnode';
export default class extends Spider { name = 'news'; parse() {} }
`;

/** What the project holds. */
export interface EngineProjectChoice {
  /** Beside the address of the Redis. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Path in the project → text; the spider `news` unless told. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What a test finds; filled before each of the tests around. */
export interface EngineProject {
  project: Project;
  /** Null on the embedded engine. */
  redis: RedisServer | null;
  /** Where `openOptions` finds the crawl: the URL of the Redis, or the folder. */
  place(): string;
  /** Ask the frontier of a spider, `news` unless told, as a command does; it is closed afterwards. */
  look<T>(question: (frontier: Frontier) => Promise<T>, spider?: string): Promise<T>;
}

/** Call it inside a `describe`: each test gets a project of its own, and nothing of it stays. */
export function projectOn(engine: Engine, choice: EngineProjectChoice = {}): EngineProject {
  const { settings = {}, files = { 'spiders/news.ts': newsSpider } } = choice;
  const here = {
    place: () => here.redis?.url ?? here.project.path('.crawlnode'),
    look: async (question, spider = 'news') => {
      const frontier = await openFrontier(openOptions(here.place(), spider));
      try {
        return await question(frontier);
      } finally {
        await frontier.close();
      }
    },
  } as EngineProject;
  beforeEach(async () => {
    here.redis = engine === 'redis' ? await startRedis() : null;
    const address = here.redis === null ? {} : { REDIS_URL: here.redis.url };
    here.project = await createProject({ settings: { ...address, ...settings }, files });
  });
  afterEach(async () => {
    await here.project.remove();
    await here.redis?.stop();
  });
  return here;
}

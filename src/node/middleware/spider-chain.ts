/**
 * The modules of SPIDER_MIDDLEWARES around the callbacks of a spider. Responses pass them by ascending numbers; results and
 * errors pass them by descending ones, as in Scrapy.
 */
import { CrawlnodeError } from '../../errors.js';
import type { Response } from '../../http/message/response.js';
import { resultsOf } from '../../spider/callback-results.js';
import type { PageLimits } from '../../spider/run-callback.js';
import type { Spider } from '../../spider/spider.js';
import { withinTimeout } from '../../user-code/callback-timeout.js';
import type { Loaded } from '../../user-code/numbered-modules.js';
import { describeError, placeOf } from '../../user-code/where-thrown.js';
import type { Thrown } from './downloader-chain.js';
import type { SpiderMiddleware, SpiderResult } from './spider-middleware.js';

/** What a callback gave, one by one. */
export type Results = AsyncIterable<unknown>;

export class SpiderChain {
  readonly #modules: readonly Loaded<SpiderMiddleware>[];
  readonly #timeoutMs: number | undefined;

  /** @param modules by ascending numbers. @param timeoutMs of a `processSpiderInput`; results are bounded with their callback. */
  constructor(modules: readonly Loaded<SpiderMiddleware>[], timeoutMs?: number) {
    this.#modules = modules;
    this.#timeoutMs = timeoutMs;
  }

  /** Run every `processSpiderInput`. @returns what one of them threw; null when none did */
  async input(response: Response, spider: Spider): Promise<Thrown | null> {
    for (const { name, methods } of this.#modules) {
      try {
        await withinTimeout(methods.processSpiderInput?.(response, spider), this.#timeoutMs);
      } catch (error) {
        const { message } = failed(name, 'processSpiderInput', error);
        return { by: name, message, error: asError(error) };
      }
    }
    return null;
  }

  /** For `runCallback`: results pass every `processSpiderOutput` and `processSpiderException`. */
  around(response: Response, spider: Spider): Required<Pick<PageLimits, 'through' | 'producerOf'>> {
    const producers: Producers = new Map();
    return {
      through: (results) =>
        this.#modules.reduceRight<Results>(
          (inner, module) => layer(module, response, inner, spider, producers),
          results,
        ),
      producerOf: (result) => producers.get(result) ?? null,
    };
  }
}

/** Which module and method made a result that the callback itself did not give. */
type Producers = Map<unknown, string>;

/**
 * The results of one module. Errors of the inner modules and of the callback go to its `processSpiderException`. Results of
 * that method skip the module's own `processSpiderOutput`, and its errors go to the next module.
 */
async function* layer(
  { name, methods }: Loaded<SpiderMiddleware>,
  response: Response,
  inner: Results,
  spider: Spider,
  producers: Producers,
): AsyncGenerator<unknown> {
  let instead: unknown;
  const guarded = async function* (): AsyncGenerator<unknown> {
    try {
      yield* inner;
    } catch (error) {
      instead = await exceptionOf(name, methods, response, error, spider);
      if (instead === undefined || instead === null) throw error;
    }
  };
  if (methods.processSpiderOutput === undefined) yield* guarded();
  else yield* outputOf(name, methods, response, guarded(), spider, producers);
  if (instead === undefined) return;
  for await (const result of resultsOf(instead)) {
    producers.set(result, `${name}: processSpiderException`);
    yield result;
  }
}

async function exceptionOf(
  name: string,
  methods: SpiderMiddleware,
  response: Response,
  error: unknown,
  spider: Spider,
): Promise<unknown> {
  try {
    return await methods.processSpiderException?.(response, causeOf(error), spider);
  } catch (thrown) {
    throw failed(name, 'processSpiderException', thrown);
  }
}

async function* outputOf(
  name: string,
  methods: SpiderMiddleware,
  response: Response,
  results: Results,
  spider: Spider,
  producers: Producers,
): AsyncGenerator<unknown> {
  let fromInside: unknown;
  const passed = new Set<unknown>();
  const noted = async function* (): AsyncGenerator<unknown> {
    try {
      for await (const result of results) {
        passed.add(result);
        yield result;
      }
    } catch (error) {
      fromInside = error;
      throw error;
    }
  };
  try {
    const given: unknown = methods.processSpiderOutput?.(
      response,
      noted() as AsyncIterable<SpiderResult>,
      spider,
    );
    if (given === undefined || given === null) {
      throw new TypeError('it returned nothing; yield the results, or return them');
    }
    for await (const result of resultsOf(given)) {
      if (!passed.has(result)) producers.set(result, `${name}: processSpiderOutput`);
      yield result;
    }
  } catch (error) {
    throw error === fromInside ? error : failed(name, 'processSpiderOutput', error);
  }
}

/** The error as the user's code threw it. */
function causeOf(error: unknown): Error {
  return asError(error instanceof CrawlnodeError && error.code === 'middleware_error' ? error.cause : error);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function failed(name: string, method: keyof SpiderMiddleware, cause: unknown): CrawlnodeError {
  return new CrawlnodeError(
    'middleware_error',
    `${name}: ${method}: ${describeError(cause)}${placeOf(cause)}`,
    { cause },
  );
}

/**
 * Calls the methods of the extensions. Errors of an extension never fail a page: they are counted, and the first error of
 * each method is logged as an error. CloseSpider closes the run, with the settle of the page if there is one.
 */
import { closingReason, messageOf } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { JsonObject } from '../../http/message/record/request-record.js';
import type { Response } from '../../http/message/response.js';
import type { Logger } from '../../log.js';
import type { ItemObserver } from '../../pipelines/item-pipeline.js';
import type { Spider } from '../../spider/spider.js';
import { withinTimeout } from '../../user-code/callback-timeout.js';
import type { Loaded } from '../../user-code/numbered-modules.js';
import { placeOf } from '../../user-code/where-thrown.js';
import { add, type Counters } from '../links/filter-links.js';
import type { Extension, ExtensionEvents } from './extension.js';

type EventName = keyof ExtensionEvents;
/** What an event says beside its spider. */
type Said<E extends EventName> = Omit<ExtensionEvents[E], 'spider'>;

/** What the method of an extension returned. */
interface Returned {
  readonly name: string;
  readonly returned: unknown;
}

/** The page that an event is of. */
export interface SignalledPage {
  readonly counters: Counters;
  readonly flight: { closing: string | null; readonly response: Response | null };
}

export interface SignalsOptions {
  readonly extensions: readonly Loaded<Extension>[];
  readonly spider: Spider;
  readonly frontier: Pick<Frontier, 'closeRun'>;
  /** CALLBACK_TIMEOUT. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

export class Signals {
  readonly #options: SignalsOptions;
  /** Methods of which an error was logged. */
  readonly #hasFailed = new Set<string>();

  constructor(options: SignalsOptions) {
    this.#options = options;
  }

  /** Whether an extension has a method for an event. */
  hears(event: EventName): boolean {
    return this.#options.extensions.some(({ methods }) => methods[event] !== undefined);
  }

  /** Tell of an event of a page. Its errors are counted with the page. */
  async ofPage<E extends EventName>(event: E, said: Said<E>, page: SignalledPage): Promise<void> {
    const { log } = this.#options;
    await this.#call(event, said, (closing) => {
      if (closing === null) add(page.counters, 'extension_exceptions/count');
      else {
        page.flight.closing ??= closing;
        log.info({ reason: closing }, `an extension closes the crawl: ${closing}`);
      }
    });
  }

  /** Report an event that belongs to no page. @returns what the methods returned, with the names of their extensions */
  ofNode<E extends EventName>(event: E, said: Said<E>): Promise<Returned[]> {
    return this.#call(event, said, (closing) => (closing === null ? undefined : this.close(closing)));
  }

  /** Close the run. When the store is away, only this is lost. */
  async close(reason: string): Promise<void> {
    const { frontier, log } = this.#options;
    log.info({ reason }, `an extension closes the crawl: ${reason}`);
    try {
      await frontier.closeRun(reason);
    } catch (error) {
      log.error({ reason, error: messageOf(error) }, 'the crawl could not be closed');
    }
  }

  /** Receives the outcome of each item of a page; undefined when no extension listens. */
  observer(page: SignalledPage): ItemObserver | undefined {
    if (!this.hears('itemScraped') && !this.hears('itemDropped') && !this.hears('itemError'))
      return undefined;
    const { response } = page.flight;
    return {
      scraped: (item: JsonObject) => this.ofPage('itemScraped', { item, response }, page),
      dropped: (item, error) => this.ofPage('itemDropped', { item, response, error }, page),
      failed: (item, error) => this.ofPage('itemError', { item, response, error }, page),
    };
  }

  async #call<E extends EventName>(
    event: E,
    said: Said<E>,
    onError: (closing: string | null) => unknown,
  ): Promise<Returned[]> {
    const { extensions, spider, timeoutMs } = this.#options;
    const all: Returned[] = [];
    for (const { name, methods } of extensions) {
      const method = methods[event] as ((event: ExtensionEvents[E]) => unknown) | undefined;
      if (method === undefined) continue;
      try {
        const told = { ...said, spider } as unknown as ExtensionEvents[E];
        all.push({ name, returned: await withinTimeout(method.call(methods, told), timeoutMs) });
      } catch (error) {
        const closing = closingReason(error);
        if (closing === null) this.log(name, event, error);
        await onError(closing);
      }
    }
    return all;
  }

  /** Only the first error of a method is logged as an error; a counter counts the others. */
  log(name: string, event: EventName, error: unknown): void {
    const { log } = this.#options;
    const message = `${name}: ${event} failed: ${messageOf(error)}${placeOf(error)}`;
    const key = `${name} ${event}`;
    if (this.#hasFailed.has(key)) log.debug({ extension: name }, message);
    else log.error({ extension: name }, `${message}; the crawl goes on`);
    this.#hasFailed.add(key);
  }
}

/**
 * Server-sent events: what has changed, as often as it is read, to all who look at the same. Each event is made once.
 *
 *   event: news    { atMs, value }      what the topic shows: all crawls, or the stats of one
 *   event: store   { away, message }    first, when the store ceases to answer, and when it answers again
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors.js';
import { HttpError, openEvents } from './answer.js';
import type { Reading } from './shared-reads.js';

/** Reads what an event shows. */
export type Look = () => Promise<Reading<unknown>>;

const EVERY_MS = 2_000;
/** A proxy may end a connection on which nothing is sent. */
const SIGN_OF_LIFE_MS = 15_000;
const MOST_VIEWERS = 200;
/** A viewer who does not read is given up; the browser connects again. */
const MOST_UNREAD_BYTES = 4_000_000;

export class Streams {
  readonly #topics = new Map<string, Topic>();
  #viewers = 0;

  /** Send events until the viewer goes. @param topic the viewers of one topic share its events */
  add(response: ServerResponse, topic: string, look: Look, text: (value: unknown) => string): void {
    if (this.#viewers >= MOST_VIEWERS)
      throw new HttpError(503, 'too_many_viewers', `${MOST_VIEWERS} viewers are connected already`);
    this.#viewers += 1;
    response.on('close', () => {
      this.#viewers -= 1;
      if (viewed.remove(response)) this.#topics.delete(topic);
    });
    openEvents(response);
    const viewed = this.#topics.get(topic) ?? new Topic(look, text);
    this.#topics.set(topic, viewed);
    viewed.add(response);
  }

  close(): void {
    for (const topic of this.#topics.values()) topic.close();
  }
}

class Topic {
  readonly #look: Look;
  readonly #text: (value: unknown) => string;
  readonly #viewers = new Set<ServerResponse>();
  /** The last events of each kind, for those who come later. */
  #news = '';
  #store = '';

  constructor(look: Look, text: (value: unknown) => string) {
    this.#look = look;
    this.#text = text;
  }

  add(viewer: ServerResponse): void {
    viewer.write(`retry: 2000\n\n${this.#store}${this.#news}`);
    this.#viewers.add(viewer);
    if (this.#viewers.size === 1) void this.#run();
  }

  /** @returns whether that was the last one */
  remove(viewer: ServerResponse): boolean {
    this.#viewers.delete(viewer);
    return this.#viewers.size === 0;
  }

  close(): void {
    for (const viewer of this.#viewers) viewer.end();
    this.#viewers.clear();
  }

  async #run(): Promise<void> {
    let silentMs = 0;
    while (this.#viewers.size > 0) {
      const sent = await this.#sendNews();
      silentMs = sent ? 0 : silentMs + EVERY_MS;
      if (silentMs >= SIGN_OF_LIFE_MS) {
        this.#send(': still here\n\n');
        silentMs = 0;
      }
      await sleep(EVERY_MS, undefined, { ref: false });
    }
  }

  async #sendNews(): Promise<boolean> {
    const reading = await this.#look().catch((error: Error) => error);
    const failure = reading instanceof Error ? reading : reading.failure;
    const message = failure === null ? null : messageOf(failure);
    const store = eventOf('store', this.#text({ away: failure !== null, message }));
    const events: string[] = [];
    if (store !== this.#store) events.push(store);
    this.#store = store;
    if (!(reading instanceof Error)) {
      const news = eventOf('news', this.#text({ atMs: reading.atMs, value: reading.value }));
      if (news !== this.#news) events.push(news);
      this.#news = news;
    }
    if (events.length > 0) this.#send(events.join(''));
    return events.length > 0;
  }

  #send(text: string): void {
    for (const viewer of this.#viewers) {
      if (viewer.writableLength > MOST_UNREAD_BYTES) viewer.destroy();
      else viewer.write(text);
    }
  }
}

/** JSON has no line feeds. */
function eventOf(name: string, json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`;
}

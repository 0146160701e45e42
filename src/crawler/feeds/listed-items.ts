/** The items list of a crawl, read without a change. */
import type { Frontier } from '../../frontier/frontier.js';
import type { JsonObject, JsonValue } from '../../http/message/record/request-record.js';

/** Items of one read. */
const PAGE = 1_000;

/** The items that are in the list, in order; those that come or go meanwhile may be missed. */
export async function* listedItems({ feeds }: Pick<Frontier, 'feeds'>): AsyncGenerator<JsonObject> {
  for (let from = 0; ; from += PAGE) {
    const texts = await feeds.peek(from, PAGE);
    yield* texts.map(itemOfText);
    if (texts.length < PAGE) return;
  }
}

/** Other programs may have put a text into the list that is no JSON object. Like an exported file, this has it under `value`. */
export function itemOfText(text: string): JsonObject {
  try {
    const item = JSON.parse(text) as JsonValue;
    return typeof item === 'object' && item !== null && !Array.isArray(item)
      ? (item as JsonObject)
      : { value: item };
  } catch {
    return { value: text };
  }
}

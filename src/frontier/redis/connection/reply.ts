/** Replies of the verbs: Buffers, numbers, and lists of them. What contains no bytes is one text of JSON. */
export type Reply = Buffer | number | null | readonly Reply[];

export const text = (reply: Reply | undefined): string => (reply == null ? '' : reply.toString());
export const int = (reply: Reply | undefined): number => Number(reply ?? 0);
export const hex = (reply: Reply | undefined): string => (reply as Buffer).toString('hex');

/** A list of replies; none where there is nothing. */
export const list = (reply: Reply | undefined): readonly Reply[] => (reply ?? []) as readonly Reply[];

/** A reply of JSON. Lua writes an empty list as `{}`: read one with `Object.values`. */
export const json = <T>(reply: Reply | undefined): T => JSON.parse(text(reply)) as T;

/** A reply by name, as `verbs.named` of `lua/base/verbs.lua` makes it. */
export type NamedReply = Readonly<Record<string, Reply | undefined>>;

export function named(reply: Reply | undefined): NamedReply {
  const values = list(reply);
  const found: Record<string, Reply | undefined> = {};
  for (let n = 0; n + 1 < values.length; n += 2) found[text(values[n])] = values[n + 1];
  return found;
}

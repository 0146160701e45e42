/** Replies of the scripts: Buffers, numbers, and lists of them. */
export type Reply = Buffer | number | null | readonly Reply[];

export const text = (reply: Reply | undefined): string => (reply == null ? '' : reply.toString());
export const int = (reply: Reply | undefined): number => Number(reply ?? 0);
export const hex = (reply: Reply | undefined): string => (reply as Buffer).toString('hex');

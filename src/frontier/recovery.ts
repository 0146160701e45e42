/** Recovery, for both engines: bounded steps until one says that it was the last. */
import type { CrashedRequest, Frontier } from './frontier.js';

/** What one step has done. */
export interface RecoveryStep {
  readonly isDone: boolean;
  /** The dead nodes of which it returned requests to the queue, or that it deregistered, with their labels for messages. */
  readonly nodes: readonly {
    readonly incarnation: string | number;
    readonly id: string;
    readonly count: number;
  }[];
  readonly failed: readonly CrashedRequest[];
}

/** The verb `recover`. Each dead node is reported once, over all steps. */
export function recoverBy(step: () => Promise<RecoveryStep>): Frontier['recover'] {
  return async (onDead, onFailed) => {
    const counts = new Map<string | number, { readonly id: string; count: number }>();
    for (let isDone = false; !isDone; ) {
      const found = await step();
      for (const request of found.failed) onFailed?.(request);
      for (const { incarnation, id, count } of found.nodes)
        counts.set(incarnation, { id, count: count + (counts.get(incarnation)?.count ?? 0) });
      isDone = found.isDone;
    }
    for (const { id, count } of counts.values()) onDead?.(id, count);
    return [...counts.values()].reduce((sum, { count }) => sum + count, 0);
  };
}

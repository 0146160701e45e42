/**
 * What a test opened and has not closed yet. Every helper that starts something owns it here, so that a failing
 * test leaves nothing behind: `setup.ts` closes the rest after each file, and a dying process kills its children.
 */

/** Something that can be closed: in good order while the process lives, or at once when it is about to end. */
export interface Resource {
  readonly name: string;
  close(): Promise<void>;
  /** Synchronous last resort, for the `exit` event; must not throw. */
  abandon?(): void;
}

const open = new Set<Resource>();

process.on('exit', () => {
  for (const resource of open) resource.abandon?.();
});

/** Remember a resource until it is disowned. */
export function own(resource: Resource): void {
  open.add(resource);
}

/** Forget a resource that was closed. */
export function disown(resource: Resource): void {
  open.delete(resource);
}

/** Close what is still open, newest first. @returns the errors of those that would not close. */
export async function closeResources(): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const resource of [...open].reverse()) {
    try {
      await resource.close();
    } catch (error) {
      errors.push(new Error(`could not close ${resource.name}`, { cause: error }));
    }
    open.delete(resource);
  }
  return errors;
}

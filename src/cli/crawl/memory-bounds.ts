/** Node options and environment that reduce the memory of worker processes. A node started directly does not get them. */

/** The size of each half of V8's young generation. Newer versions of Node allow more. Measured in docs/internals/tuning.md. */
const SEMI_SPACE_MB = 16;
/** One glibc malloc arena for all threads. With one for each thread, V8's compiler threads leave much memory unused. */
const ARENAS = '1';

/**
 * Node options and environment for a new process. Values that the user set take precedence.
 * @param execArgv the node options of this process, which the new one inherits
 */
export function memoryBounds(
  env: Readonly<Record<string, string | undefined>>,
  execArgv: readonly string[],
): { readonly options: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> } {
  const isChosen = [...execArgv, env.NODE_OPTIONS ?? ''].some((options) => /semi[-_]space/.test(options));
  return {
    options: isChosen ? [] : [`--max-semi-space-size=${SEMI_SPACE_MB}`],
    env: { MALLOC_ARENA_MAX: ARENAS, ...env },
  };
}

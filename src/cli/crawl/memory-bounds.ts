/** What a node's process is started with so that it takes less memory; a single node that a person starts has what they say. */

/** Of each half of V8's young generation. Newer versions of Node let it grow further. Measured in docs/internals/tuning.md. */
const SEMI_SPACE_MB = 16;
/** One arena of glibc's malloc for all threads, in place of one for each, as V8's compilers leave much behind in theirs. */
const ARENAS = '1';

/**
 * Options of node and environment for a new process. Whatever the user chose, in either, stays.
 * @param execArgv - options of node that are handed on anyway
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

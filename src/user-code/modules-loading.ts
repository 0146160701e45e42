/** The user's modules that are being loaded, to name them when the process ends before they are. */

const loading = new Set<string>();

/** Resolves as `load` does; meanwhile `file` counts as being loaded. */
export async function whileLoading<T>(file: string, load: () => Promise<T>): Promise<T> {
  loading.add(file);
  try {
    return await load();
  } finally {
    loading.delete(file);
  }
}

/** Absolute paths. */
export function modulesLoading(): readonly string[] {
  return [...loading];
}

/** TypeScript → JavaScript by esbuild, file by file, as Node 20 cannot do it; types are dropped, not checked. */

/** What beside the file decides what comes of it. */
export const OPTIONS = {
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'silent',
} as const;

let esbuild: Promise<typeof import('esbuild')> | undefined;
let compiling = 0;

/**
 * The text of a file as an ES module, with its source map; decorators and what else Node 20 lacks are written out.
 * A JavaScript file goes through as well.
 * @throws SyntaxError with `at`, the `file:line:column` of the mistake.
 */
export async function compileTypeScript(file: string, text: string): Promise<string> {
  esbuild ??= import('esbuild');
  compiling += 1;
  try {
    const { transform } = await esbuild;
    const { code } = await transform(text, {
      loader: file.endsWith('x') ? 'tsx' : /ts$/.test(file) ? 'ts' : 'js',
      sourcefile: file,
      ...OPTIONS,
    });
    return code;
  } catch (error) {
    throw withPlace(file, error);
  } finally {
    compiling -= 1;
    setTimeout(stopIdle, 500).unref();
  }
}

/** esbuild keeps a process for its next file; a crawl of hours has none. */
async function stopIdle(): Promise<void> {
  if (compiling === 0) await (await esbuild)?.stop();
}

interface Mistake {
  readonly text: string;
  readonly location: { readonly line: number; readonly column: number } | null;
}

function withPlace(file: string, error: unknown): unknown {
  const mistake = (error as { errors?: readonly Mistake[] }).errors?.[0];
  if (mistake === undefined) return error;
  const { line, column } = mistake.location ?? { line: 1, column: 0 };
  return Object.assign(new SyntaxError(mistake.text), { at: `${file}:${line}:${column + 1}` });
}

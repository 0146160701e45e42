/** TypeScript → JavaScript by esbuild, file by file, as Node 20 cannot do it; types are dropped, not checked. */
import { createRequire } from 'node:module';

/** What beside the file decides what comes of it. */
export const OPTIONS = {
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'silent',
} as const;

const require = createRequire(import.meta.url);

/**
 * The text of a file as an ES module, with its source map; decorators and what else Node 20 lacks are written out.
 * A JavaScript file goes through as well. esbuild's process serves the files of one turn of the loop, and ends then: starting
 * it takes 30 ms.
 * @throws SyntaxError with `at`, the `file:line:column` of the mistake.
 */
export function compileTypeScript(file: string, text: string): string {
  // Loaded when it is needed: most TypeScript was compiled in an earlier run.
  const { transformSync, stop } = require('esbuild') as typeof import('esbuild');
  setImmediate(() => void stop());
  try {
    return transformSync(text, {
      loader: file.endsWith('x') ? 'tsx' : /ts$/.test(file) ? 'ts' : 'js',
      sourcefile: file,
      ...OPTIONS,
    }).code;
  } catch (error) {
    throw withPlace(file, error);
  }
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

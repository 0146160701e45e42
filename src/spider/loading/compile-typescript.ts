/** Compile TypeScript to JavaScript with esbuild, as Node 20 cannot load it. Types are removed, not checked. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The options that determine the output; part of the cache key. */
export const COMPILE_OPTIONS = {
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'silent',
} as const;

const require = createRequire(import.meta.url);

/**
 * Compile the text of a TypeScript or JavaScript file to an ES module with an inline source map. Syntax that Node 20 lacks,
 * such as decorators, is transformed. All files compiled in one iteration of the event loop share one esbuild process.
 * @throws SyntaxError with `at`, the `file:line:column` of the error.
 */
export function compileTypeScript(file: string, text: string): string {
  // Loaded on first use: most files come from the cache.
  const { transformSync, stop } = require('esbuild') as typeof import('esbuild');
  setImmediate(() => void stop());
  try {
    return transformSync(text, {
      loader: file.endsWith('x') ? 'tsx' : /ts$/.test(file) ? 'ts' : 'js',
      sourcefile: pathToFileURL(file).href,
      ...COMPILE_OPTIONS,
    }).code;
  } catch (error) {
    throw syntaxErrorWithPosition(file, error);
  }
}

interface EsbuildError {
  readonly text: string;
  readonly location: { readonly line: number; readonly column: number } | null;
}

function syntaxErrorWithPosition(file: string, error: unknown): unknown {
  const first = (error as { errors?: readonly EsbuildError[] }).errors?.[0];
  if (first === undefined) return error;
  const { line, column } = first.location ?? { line: 1, column: 0 };
  return Object.assign(new SyntaxError(first.text), { at: `${file}:${line}:${column + 1}` });
}

/** The examples of docs/reference/api.md: the regions of `examples/api/`, a project that a test compiles. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../examples/api/', import.meta.url));

/** A region: `//#region Rule, Link` up to `//#endregion`. */
export interface ApiExample {
  /** The exports that it shows. The first one has the code on the page, the others a link to it. */
  readonly names: readonly string[];
  readonly code: string;
}

/** All examples, by the names of the exports. @throws Error for an example that does not use what it names. */
export function apiExamples(): ReadonlyMap<string, ApiExample> {
  const examples = new Map<string, ApiExample>();
  for (const file of readdirSync(folder).sort()) {
    const text = readFileSync(`${folder}${file}`, 'utf8');
    for (const [, names = '', code = ''] of text.matchAll(/^\/\/#region (.+)\n([\s\S]*?)^\/\/#endregion/gm)) {
      const example = { names: names.split(',').map((name) => name.trim()), code: code.trim() };
      for (const name of example.names) {
        if (!new RegExp(`\\b${name}\\b`).test(code))
          throw new Error(`examples/api/${file}: no ${name} in its example`);
        if (examples.has(name)) throw new Error(`examples/api/${file}: ${name} has two examples`);
        examples.set(name, example);
      }
    }
  }
  return examples;
}

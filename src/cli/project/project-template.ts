/** The files of a new project, as `crawlnode init` writes them. */
import { nightly } from './nightly.inlined.js';
import { items, page, pipeline, spider, test } from './template-code.js';
import { biome, gitignore, readme, settings, tsconfig } from './template-texts.js';

/** What tests, types and lint of a project need, in the versions that crawlnode itself is developed with. */
export const projectTools: Readonly<Record<string, string>> = {
  '@biomejs/biome': '2.6.8',
  '@types/node': '20.19.43',
  tsx: '4.23.15',
  typescript: '5.9.3',
  zod: '4.6.7',
};

const scripts: Readonly<Record<string, string>> = {
  test: 'tsx --test test/*.test.ts',
  types: 'tsc --noEmit',
  lint: 'biome check --error-on-warnings .',
  format: 'biome check --write .',
};

/** @param name the project name, for its README. @returns a map of path in the project → text. */
export function projectTemplate(name: string): Readonly<Record<string, string>> {
  return {
    'crawlnode.yaml': settings,
    'spiders/quotes.ts': spider,
    'items.ts': items,
    'pipelines/clean.ts': pipeline,
    'test/quotes.test.ts': test,
    'test/quotes.html': page,
    'nightly.sh': nightly,
    'package.json': packageJson(name),
    'tsconfig.json': tsconfig,
    'biome.json': biome,
    '.gitignore': gitignore,
    'README.md': readme(name),
  };
}

/** Files that may already exist in the folder. They are not changed. */
export const mayExist: ReadonlySet<string> = new Set([
  ...['package.json', 'tsconfig.json', 'biome.json', '.gitignore'],
]);

function packageJson(name: string): string {
  const content = {
    name: packageName(name),
    private: true,
    type: 'module',
    scripts,
    devDependencies: projectTools,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** A valid npm package name. */
function packageName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'crawl' : plain;
}

/** What the compiler says of spiders: right ones compile, and mistakes are errors at their place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { tempDir } from './helpers/temp-dir.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const source = `
import { defineSettings, type ItemOf, Request, type Response, Spider } from 'crawlnode';
import { z } from 'zod';

const product = z.object({ name: z.string(), price: z.number() });

export default class Shop extends Spider {
  override name = 'shop';
  override item = product;
  override customSettings = defineSettings({ DOWNLOAD_DELAY: 1 });

  override *parse(response: Response<{ page: number }>): Generator<ItemOf<typeof product> | Request> {
    this.log.info('a message alone');
    this.log.info({ page: response.meta.page.toFixed() }, 'fields and a message');
    yield { name: response.json<{ name: string }>().name, price: 1 };
    yield response.follow('/next', this.parse, { meta: { page: response.meta.page + 1 } });
    yield { name: 'no price' }; // error
    response.meta.pgae; // error
  }
}

defineSettings({ DOWNLOAD_TIMOUT: 3 }); // error
defineSettings({ DOWNLOAD_DELAY: 'slow' }); // error
new Request('http://a.example/', { metta: {} }); // error
new Shop().log.info(3); // error
`;

it('misspelt settings, items that break the schema, unknown meta and options are errors, and nothing else is', () => {
  const { dir } = tempDir('types');
  mkdirSync(path.join(dir, 'spiders'));
  const file = path.join(dir, 'spiders', 'shop.ts');
  writeFileSync(file, source);
  const program = ts.createProgram([file], {
    ...{ strict: true, noEmit: true, skipLibCheck: true, noImplicitOverride: true },
    ...{
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    },
    paths: {
      crawlnode: [path.join(root, 'src', 'index.ts')],
      zod: [path.join(root, 'node_modules', 'zod')],
    },
    typeRoots: [path.join(root, 'node_modules', '@types')],
    types: ['node'],
  });
  const found = ts
    .getPreEmitDiagnostics(program, program.getSourceFile(file))
    .map(({ start = 0 }) => source.slice(0, start).split('\n').length);
  const expected = source.split('\n').flatMap((line, at) => (line.endsWith('// error') ? [at + 1] : []));
  expect([...new Set(found)]).toEqual(expected);
});

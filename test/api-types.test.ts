/** What the compiler says of spiders: right ones compile, and mistakes are errors at their place. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { tempDir } from './helpers/temp-dir.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const examples = readdirSync(path.join(root, 'examples', 'api')).map((file) =>
  path.join(root, 'examples', 'api', file),
);

const source = `
import {
  CrawlSpider, defineSettings, type Failure, type Headers, type ItemOf, type ItemPipeline, type CrawlContext, Request, type RequestOptions, type Response, type Rule,
  items, runSpider, type Settings, Spider, type SpiderMiddleware,
} from 'crawlnode';
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
    response.headers['Content-Type']; // error
    const headers: Headers = response.headers;
    return String(headers['content-type'] ?? response.headers['content-type']?.length) && undefined;
  }
}

defineSettings({ DOWNLOAD_TIMOUT: 3 }); // error
defineSettings({ DOWNLOAD_DELAY: 'slow' }); // error
new Request('http://a.example/', { metta: {} }); // error
new Shop().log.info(3); // error

export class Rules extends CrawlSpider {
  override name = 'rules';
  override rules: Rule<Rules>[] = [
    { allow: /a/, callback: 'parsePage' },
    { allow: /b/, callback: this.parsePage, errback: this.report },
    { allow: /b/, callback: (page) => ({ url: page.url }), errback: 'report' },
    { allow: /c/, callback: 'parsePgae' }, // error
    { allow: /d/, errback: 'opened' }, // error
    { allow: /e/, callback: this.parsePgae }, // error
    { allow: /f/, callback: this.ofText }, // error
    { allow: /g/, callback: this.parsePage, errback: this.parsePage }, // error
  ];
  *report(failure: Failure) {
    yield { reason: failure.reason };
  }
  *ofText(url: string) {
    yield { url };
  }
  *parsePage(response: Response) {
    yield { url: response.url };
  }
}

export async function offline(page: Response) {
  await runSpider(Rules, page, { callback: 'parsePage' });
  await runSpider(Rules, page, { callback: 'parsePgae' }); // error
}

export class Keywords extends Spider {
  override *parse(response: Response) {
    yield response.follow('/1', this.parseItem, { cbKwargs: { id: 1 } });
    yield response.follow('/2', this.parsePlace, { cbKwargs: { city: 'x' }, errback: this.failed });
    yield response.follow('/2', this.maybe);
    yield response.follow('/2', this.maybe, { cbKwargs: { id: 1 }, errback: this.loose });
    yield response.follow('/3', 'parseItem', { cbKwargs: { any: 1 } });
    yield response.follow('/4', this.parse, { cbKwargs: { any: 1 }, meta: { own_key: 1, download_timeout: 3 } });
    yield* response.followAll('a', null, { cbKwargs: { any: 1 } });
    yield response.follow('/5', this.parseItem, { cbKwargs: { id: 'one' } }); // error
    yield response.follow('/6', this.parseItem, { cbKwargs: { idd: 1 } }); // error
    yield* response.followAll('a', this.parsePlace, { cbKwargs: { city: 3 } }); // error
    yield response.follow('/6', this.parseItem); // error
    yield response.follow('/6', this.parseItem, { priority: 1 }); // error
    yield* response.followAll('a', this.parsePlace); // error
    yield response.follow('/6', this.ofText); // error
    yield new Request('http://a.example/', { errback: this.parse }); // error
    yield new Request('http://a.example/', { callback: this.parse, errback: this.failed });
    yield new Request('http://a.example/', { callback: this.parseItem, cbKwargs: { id: 1 } });
    yield new Request('http://a.example/', { callback: this.parsePlace, cbKwargs: { city: 'x' }, priority: 1 });
    yield new Request('http://a.example/', { callback: this.maybe });
    yield new Request('http://a.example/', { callback: 'parseItem', cbKwargs: { any: 1 } });
    yield new Request('http://a.example/', { cbKwargs: { any: 1 }, errback: this.failed });
    yield new Request('http://a.example/', ofOptions);
    yield new Request('http://a.example/', { ...ofOptions, callback: this.parseItem, cbKwargs: { id: 1 } });
    yield response.request.replace({ callback: this.parseItem, dontFilter: true });
    yield new Request('http://a.example/', { callback: this.ofText }); // error
    yield new Request('http://a.example/', { callback: this.failed }); // error
    yield new Request('http://a.example/', { callback: this.texts }); // error
    yield new Request('http://a.example/', { callback: this.parseItem, cbKwargs: { id: 'one' } }); // error
    yield new Request('http://a.example/', { callback: this.parseItem, cbKwargs: { idd: 1 } }); // error
    yield new Request('http://a.example/', { callback: this.parseItem }); // error
    yield response.request.replace({ callback: this.ofText }); // error
    yield Request.fromForm(response, { callback: this.ofText }); // error
    yield new Request('http://a.example/', { meta: { downloadTimeout: 3 } }); // error
    yield response.follow('/7', this.parse, { meta: { handleHttpstatusList: [404] } }); // error
  }
  *maybe(page: Response<{ page: number }>, { id = 0 }: { id?: number }) {
    yield { id, page: page.meta.page };
  }
  *failed({ request, response }: Failure, { city }: Place) {
    yield { city, url: request.url, status: response?.status };
  }
  loose({ reason }: { reason: string }) {
    this.log.info(reason);
  }
  *ofText(url: string) {
    yield { url };
  }
  *parseItem(_: Response, { id }: { id: number }) {
    yield { id };
  }
  async *parsePlace(_: Response, place: Place) {
    yield { city: place.city };
  }
  *texts() {
    yield 'text';
  }
  *asked(options: RequestOptions): Generator<Request> {
    yield new Request('http://a.example/', { ...options, callback: this.parseItem, cbKwargs: { id: 1 } });
    const list: Request[] = [new Request('http://a.example/', { callback: this.parseItem, cbKwargs: { id: 1 } })];
    yield* list;
  }
}
declare const ofOptions: RequestOptions;
interface Place {
  city: string;
}

export class Unchecked extends Spider {
  override customSettings = { DOWNLOAD_TIMOUT: 3 }; // error
}

export class Checked extends Spider {
  override customSettings = defineSettings({ DOWNLOAD_DELAY: 1, DOWNLOAD_TIMOUT: 3 }); // error
}

export class Recursive extends Spider {
  override *parse(response: Response) {
    yield response.follow('/1', this.parse, { errback: this.fail });
    yield response.follow('/1', this.sub, { errback: this.fail, cbKwargs: { id: 1 } });
    yield* response.followAll('a', this.parse, { cbKwargs: { id: 1 }, errback: this.fail });
    yield new Request('http://a.example/', { callback: this.parse, errback: this.fail });
    yield new Request('http://a.example/', { callback: this.sub, cbKwargs: { id: 1 }, errback: this.fail });
  }
  *sub(response: Response, { id }: { id: number }) {
    yield { id };
    yield response.follow('/1', this.sub, { cbKwargs: { id: id + 1 }, errback: this.fail });
    yield* response.followAll('a', this.parse);
    yield new Request('http://a.example/', { callback: this.sub, cbKwargs: { id: 1 }, errback: this.fail });
    yield new Request('http://a.example/', { callback: this.parse });
  }
  *fail(failure: Failure) {
    yield failure.request.replace({ errback: this.fail, callback: this.parse });
    if (failure.response) yield failure.response.follow('/1', this.sub, { cbKwargs: { id: 2 }, errback: this.fail });
  }
  async *later(response: Response) {
    yield response.follow('/1', this.later, { errback: this.laterFail });
  }
  async laterFail(failure: Failure) {
    return [failure.request.replace({ errback: this.laterFail }), { a: 1 }];
  }
}
export const price = async () => {
  for await (const { price } of items(Shop)) price.toFixed();
  for await (const { prise } of items(Shop)) prise; // error
  for await (const { anything } of items(Recursive)) anything;
  for await (const { anything } of items('shop')) anything;
};
export const texts: ItemPipeline = {
  processItem: ({ item }) => String(item.name), // error
};
export const fine: ItemPipeline[] = [
  { processItem: ({ item }) => item },
  { processItem: ({ item }) => void item.name.trim() },
  { processItem: async ({ item }) => ({ ...item, price: 1 }) },
  { processItem: ({ item }) => Object.fromEntries(Object.entries(item)) },
];
export const pipeline: ItemPipeline = {
  open: ({ log }: CrawlContext) => log.info('a message alone'),
};
export const middleware: SpiderMiddleware = {
  open: ({ log, settings }) => log.warn({ delay: settings.DOWNLOAD_DELAY.toFixed() }, 'fields'),
};
export const hovered = (settings: Settings) => settings.DOWNLOAD_DELAY;
`;

it('misspelt settings, items that break the schema, unknown meta and options are errors, and nothing in the examples of each export is', () => {
  const { dir } = tempDir('types');
  mkdirSync(path.join(dir, 'spiders'));
  const file = path.join(dir, 'spiders', 'shop.ts');
  writeFileSync(file, source);
  const program = ts.createProgram([file, ...examples], {
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

  // The examples of the API page are a project that uses every export.
  const inExamples = examples.flatMap((example) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(example))
      .map(
        ({ messageText }) =>
          `${path.basename(example)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
      ),
  );
  expect(inExamples).toEqual([]);
  const imported = examples.flatMap((example) => importedFrom(program.getSourceFile(example)!));
  const index = program.getSourceFile(path.join(root, 'src', 'index.ts'))!;
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(index)!).map(({ name }) => name);
  expect([...new Set(imported)].sort()).toEqual(exported.sort());

  const hover = (text: string, from = 0) => {
    const at = source.indexOf(text, from);
    const node = nodeAt(program.getSourceFile(file)!, at);
    const symbol = program.getTypeChecker().getSymbolAtLocation(node);
    return ts.displayPartsToString(symbol?.getDocumentationComment(program.getTypeChecker()));
  };
  const meaning = 'Time between two requests to one domain, over all nodes. Unit: seconds. Default: 0.';
  const checked = source.indexOf('defineSettings({ DOWNLOAD_DELAY');
  expect(contextualText(program, source.indexOf('DOWNLOAD_DELAY', checked))).toBe(meaning);
  expect(hover('DOWNLOAD_DELAY', source.indexOf('const hovered'))).toBe(meaning);

  /** What an editor shows of a property in an object that is passed to a function: the docs of the expected type. */
  function contextualText(of: ts.Program, at: number): string {
    const checker = of.getTypeChecker();
    const node = nodeAt(of.getSourceFile(file)!, at);
    const expectedType = checker.getContextualType(node.parent.parent as ts.ObjectLiteralExpression);
    const symbol = expectedType?.getProperty(node.getText());
    return ts.displayPartsToString(symbol?.getDocumentationComment(checker));
  }
});

/** The names that a file imports from crawlnode. */
function importedFrom(file: ts.SourceFile): string[] {
  return file.statements
    .filter(ts.isImportDeclaration)
    .filter(({ moduleSpecifier }) => (moduleSpecifier as ts.StringLiteral).text === 'crawlnode')
    .flatMap(({ importClause }) => importClause?.namedBindings ?? [])
    .flatMap((bindings) =>
      ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [],
    );
}

function nodeAt(parent: ts.Node, at: number): ts.Node {
  const child = parent.getChildren().find((each) => each.getStart() <= at && at < each.end);
  return child === undefined ? parent : nodeAt(child, at);
}

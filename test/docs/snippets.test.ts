/** Every TypeScript block in the docs compiles in a strict project that imports crawlnode. */
import path from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root, writtenPages } from './pages.js';

/** A block without imports is the inside of a spider. */
const wrapped = (
  members: string,
) => `import { CrawlSpider, DropItem, Request, type Failure, type Response, Spider } from 'crawlnode';
export class Wrapped extends Spider {
${members}
}
void [CrawlSpider, DropItem, Request]; export type Used = Failure | Response;
`;

/** The compiler computes for seconds; beside other load that is minutes. */
const timeout = 300_000;

it('TypeScript blocks compile', { timeout }, () => {
  const sources = new Map<string, string>();
  const shownAs = new Map<string, string>();
  for (const { file, blocks } of writtenPages) {
    for (const [at, { language, text }] of blocks.entries()) {
      if (language !== 'ts') continue;
      const name = path.join(root, 'docs', `snippet-${sources.size}.ts`);
      sources.set(name, /^import /m.test(text) ? text : wrapped(text));
      shownAs.set(name, `${file}, block ${at + 1}`);
    }
  }
  expect(sources.size).toBeGreaterThan(15);

  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  // As in the project that `crawlnode init` makes.
  const asProject = { ...options, noImplicitOverride: false, exactOptionalPropertyTypes: false };
  const host = ts.createCompilerHost(asProject);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.readFile = (file) => sources.get(file) ?? readFile(file);
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const source = sources.get(file);
    return source === undefined
      ? getSourceFile(file, languageVersion, ...rest)
      : ts.createSourceFile(file, source, languageVersion);
  };
  const program = ts.createProgram([...sources.keys()], asProject, host);
  const problems = [...sources.keys()].flatMap((name) => {
    const source = program.getSourceFile(name)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      (each) => {
        const line =
          each.file && each.start !== undefined
            ? each.file.getLineAndCharacterOfPosition(each.start).line + 1
            : 0;
        return `${shownAs.get(name)}, line ${line}: ${ts.flattenDiagnosticMessageText(each.messageText, ' ')}`;
      },
    );
  });
  expect(problems).toEqual([]);
});

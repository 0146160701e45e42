/** Imports go one way, and only the command line touches environment, exit code and console. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** cli → crawler → node → siblings → http → settings → errors, log and the like. Whatever has a higher number may import a lower one. */
const layers: Readonly<Record<string, number>> = {
  'error-codes.ts': -1,
  'errors.ts': 0,
  'format-amounts.ts': 0,
  'log.ts': 0,
  'package-folder.ts': 0,
  'feed-outbox.ts': 0,
  'bounded-file.ts': 0,
  disk: 1,
  settings: 1,
  stats: 1,
  http: 2,
  'user-code': 2,
  spider: 3,
  pipelines: 3,
  robots: 3,
  downloader: 3,
  frontier: 3,
  node: 4,
  crawler: 5,
  metrics: 6,
  dashboard: 7,
  cli: 8,
  'index.ts': 9,
  'internal.ts': 9,
};

/** Of the settings only types, and these, which know nothing of any setting. */
const settingsHelpers = [
  'settings/built-in-middleware.ts',
  'settings/define-settings.ts',
  'settings/first-tunables.ts',
  'settings/mask-urls.ts',
  'settings/nearest.ts',
  'settings/proxy-url.ts',
  'settings/s3-location.ts',
];

const outwardNames = /^(process\??\.(env|argv|exit|exitCode|stdin|stdout|stderr)|console\??\.\w+)$/;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

interface SourceFacts {
  readonly imports: readonly Import[];
  /** Names of packages whose code it loads. */
  readonly packages: readonly string[];
  /** `process.env`, `process.exit`, streams, `console`, with their lines. */
  readonly outward: readonly string[];
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const facts = new Map(files.map((file) => [file, factsOf(file)]));
const imports = [...facts.values()].flatMap((fact) => fact.imports);

describe('the folders of src/', () => {
  it('are all known to this test', () => {
    expect([...new Set(files.map(areaOf))].filter((area) => !(area in layers))).toEqual([]);
  });

  it('import only what lies below them, and siblings do not import each other', () => {
    const wrong = imports.filter(
      ({ from, to }) => areaOf(from) !== areaOf(to) && layers[areaOf(from)]! <= layers[areaOf(to)]!,
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('take only types from the settings, unless they build a crawl from them', () => {
    const wrong = imports.filter(
      ({ from, to, typeOnly }) =>
        areaOf(to) === 'settings' &&
        !['settings', 'crawler', 'cli'].includes(areaOf(from)) &&
        !typeOnly &&
        !settingsHelpers.includes(to),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('know the frontier, never an engine behind it', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        !['frontier', 'internal.ts'].includes(areaOf(from)) && /^frontier\/(redis|embedded)\//.test(to),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('leave environment, exit, streams and console to the command line', () => {
    const outward = [...facts].filter(([file]) => areaOf(file) !== 'cli').flatMap(([, fact]) => fact.outward);
    // crawl() of a program reads the settings of its environment as the command line does.
    expect(outward).toEqual([expect.stringMatching(/^crawler\/program\/environment\.ts.*process\.env/)]);
  });
});

describe("the heartbeat's thread", () => {
  it('loads nothing but what opens a frontier and beats', () => {
    const loaded = new Set<string>();
    const follow = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const { to, typeOnly } of facts.get(file)?.imports ?? []) if (!typeOnly) follow(to);
      for (const name of facts.get(file)?.packages ?? []) loaded.add(name);
    };
    follow('node/membership/heartbeat-thread.ts');
    const areas = [...loaded].map(areaOf).filter((area) => !(area in layers));
    expect(
      areas.filter((name) => /^(got|cheerio|htmlparser2|zod|commander|pino|yaml|esbuild)$/.test(name)),
    ).toEqual([]);
    const heavy = /^(cli|spider|pipelines|downloader|settings)\//;
    expect([...loaded].filter((file) => heavy.test(file) && !settingsHelpers.includes(file))).toEqual([]);
  });
});

describe('the files of src/', () => {
  it('import each other in no circle, not even for a type', () => {
    expect(circlesIn(imports)).toEqual([]);
  });
});

describe('src/index.ts', () => {
  it('only re-exports', () => {
    const file = parse('index.ts');
    expect(file.statements.filter((statement) => !ts.isExportDeclaration(statement))).toEqual([]);
  });
});

/** `http` for `http/message/request.ts`, `errors.ts` for itself. */
function areaOf(file: string): string {
  return file.split(path.sep)[0]!;
}

/** Files that import each other, directly or through others: the strongly connected components (Tarjan). */
function circlesIn(all: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of all) targets.set(from, [...(targets.get(from) ?? []), to]);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    open.push(file);
    for (const to of targets.get(file) ?? []) {
      const reached = order.has(to)
        ? open.includes(to)
          ? order.get(to)!
          : Number.POSITIVE_INFINITY
        : visit(to);
      lowest.set(file, Math.min(lowest.get(file)!, reached));
    }
    if (lowest.get(file) === order.get(file)) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return lowest.get(file)!;
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return circles;
}

function show({ from, to }: Import): string {
  return `${from} imports ${to}`;
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(src + file, 'utf8'), ts.ScriptTarget.ES2023, true);
}

function factsOf(file: string): SourceFacts {
  const source = parse(file);
  const imports: Import[] = [];
  const outward: string[] = [];
  const packages: string[] = [];

  const addImport = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    if (/^(node:)?(process|console)$/.test(specifier.text)) outward.push(`${file} imports ${specifier.text}`);
    if (!specifier.text.startsWith('.')) {
      if (!typeOnly && !specifier.text.startsWith('node:')) packages.push(specifier.text);
      return;
    }
    const to = path.join(path.dirname(file), specifier.text.replace(/\.js$/, '.ts'));
    imports.push({ from: file, to, typeOnly });
  };

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) addImport(node.moduleSpecifier, isTypeOnly(node.importClause));
    else if (ts.isExportDeclaration(node)) addImport(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      addImport(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      addImport(node.arguments[0], false);
    }
    if (outwardNames.test(access(node))) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      outward.push(`${file}:${line + 1} uses ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { imports, packages, outward };
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false; // import for its effects
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.every((element) => element.isTypeOnly)
  );
}

/** The text of `a.b`, with which the command line's own things are recognised; empty for other nodes. */
function access(node: ts.Node): string {
  return ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) ? node.getText() : '';
}

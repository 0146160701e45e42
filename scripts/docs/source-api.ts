/** What TypeScript knows of the source: exports, members, signatures and docstrings. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A thing that is exported, or a member of one. */
export interface Documented {
  readonly name: string;
  /** As TypeScript writes it, without bodies; several for an overloaded method. */
  readonly signatures: readonly string[];
  /** The docstring in Markdown, with its tags as sentences. */
  readonly text: string;
}

export interface DocumentedType extends Documented {
  readonly kind: 'class' | 'interface' | 'type' | 'function';
  /** Of a class its constructor too, under the name `constructor`. */
  readonly members: readonly Documented[];
}

/** The source, checked once for all pages. */
export class SourceApi {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;

  /** @param files in src/ */
  constructor(files: readonly string[]) {
    const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    this.#program = ts.createProgram(
      files.map((file) => `${root}src/${file}`),
      options,
    );
    this.#checker = this.#program.getTypeChecker();
  }

  /** Everything a module exports, in the order of its export statements. */
  exportsOf(file: string): DocumentedType[] {
    const source = this.#program.getSourceFile(`${root}src/${file}`)!;
    const symbols = this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(source)!);
    return symbols.map((symbol) => this.#describe(symbol));
  }

  /** One exported thing. */
  exportOf(file: string, name: string): DocumentedType {
    const found = this.exportsOf(file).find((each) => each.name === name);
    if (found === undefined) throw new Error(`src/${file} exports no ${name}`);
    return found;
  }

  #describe(alias: ts.Symbol): DocumentedType {
    const symbol = alias.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(alias) : alias;
    const declaration = symbol.declarations?.[0];
    if (declaration === undefined) throw new Error(`${alias.name} is declared nowhere`);
    const common = { name: alias.name, text: this.#text(symbol) };
    if (ts.isClassDeclaration(declaration)) {
      const heritage = declaration.heritageClauses?.map((clause) => ` ${clause.getText()}`).join('') ?? '';
      const signatures = [`class ${alias.name}${heritage}`];
      return { ...common, kind: 'class', signatures, members: this.#members(declaration) };
    }
    if (ts.isInterfaceDeclaration(declaration)) {
      const signatures = [`interface ${alias.name}`];
      return { ...common, kind: 'interface', signatures, members: this.#members(declaration) };
    }
    if (ts.isFunctionDeclaration(declaration)) {
      return { ...common, kind: 'function', signatures: [headOf(declaration)], members: [] };
    }
    const signatures = [withoutComments(declaration.getText()).replace(/^export /, '')];
    return { ...common, kind: 'type', signatures, members: [] };
  }

  #members(declaration: ts.ClassDeclaration | ts.InterfaceDeclaration): Documented[] {
    const byName = new Map<string, { signatures: string[]; text: string }>();
    for (const member of declaration.members) {
      const name = this.#publicName(member);
      if (name === null) continue;
      // The last of several declarations of a method is the body of them all.
      const overloaded = ts.isMethodDeclaration(member) && member.body !== undefined && byName.has(name);
      const entry = byName.get(name) ?? { signatures: [], text: '' };
      if (!overloaded) entry.signatures.push(headOf(member));
      const symbol = this.#symbolOf(member);
      if (entry.text === '' && symbol !== undefined) entry.text = this.#text(symbol);
      byName.set(name, entry);
    }
    return [...byName].map(([name, entry]) => ({ name, ...entry }));
  }

  #symbolOf(member: ts.ClassElement | ts.TypeElement): ts.Symbol | undefined {
    if (ts.isConstructorDeclaration(member)) {
      return (member as unknown as { readonly symbol?: ts.Symbol }).symbol;
    }
    return member.name === undefined ? undefined : this.#checker.getSymbolAtLocation(member.name);
  }

  #publicName(member: ts.ClassElement | ts.TypeElement): string | null {
    if (isInternal(member)) return null;
    if (ts.isConstructorDeclaration(member)) return 'constructor';
    const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : [];
    if (modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)) return null;
    return member.name !== undefined && ts.isIdentifier(member.name) ? member.name.text : null;
  }

  #text(symbol: ts.Symbol): string {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    const tags = symbol.getJsDocTags(this.#checker).map(({ name, text: parts }) => {
      const words = ts.displayPartsToString(parts).trim();
      if (name === 'param') return `- ${words.replace(/^(\S+)\s*-?\s*/, '`$1`: ')}`;
      if (name === 'returns') return `Returns ${words}`;
      return name === 'throws' ? `Throws ${words}` : '';
    });
    return [joined(text), ...tags.map(joined).filter((tag) => tag !== '')].join('\n\n');
  }
}

/** A declaration up to its body or value. */
function headOf(node: ts.ClassElement | ts.TypeElement | ts.FunctionDeclaration): string {
  const source = node.getSourceFile().text;
  const start = node.getStart();
  const body = 'body' in node ? (node.body as ts.Node | undefined) : undefined;
  const value = ts.isPropertyDeclaration(node) && node.type ? node.initializer : undefined;
  const end =
    body?.getFullStart() ??
    (value && node.kind === ts.SyntaxKind.PropertyDeclaration
      ? (node as ts.PropertyDeclaration).type!.end
      : node.end);
  return withoutComments(source.slice(start, end))
    .replace(/\s+/g, ' ')
    .replace(/[;{]?\s*$/, '')
    .replace(/^export /, '')
    .replace(/\b(override|declare) /g, '')
    .trim();
}

function isInternal(node: ts.Node): boolean {
  return ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');
}

const withoutComments = (text: string) =>
  text.replace(/^[ \t]*\/\*\*?[\s\S]*?\*\/\n?/gm, '').replace(/^\s*\/\/.*\n/gm, '');

/** Lines of a docstring joined into paragraphs; blocks of code stay as they are. */
function joined(text: string): string {
  return text
    .split(/(```[\s\S]*?```)/)
    .map((part) => (part.startsWith('```') ? `\n\n${part}\n\n` : part.replace(/([^\n])\n(?!\n|- )/g, '$1 ')))
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

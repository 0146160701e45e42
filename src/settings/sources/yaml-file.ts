/** Read the YAML settings file with the position of every key, which error messages name. */
import path from 'node:path';
import { Composer, type CST, type Document, isMap, isScalar, Lexer, LineCounter, Parser } from 'yaml';
import { readBoundedFile } from '../../bounded-file.js';
import { SettingsError } from '../../errors.js';
import { findSettingsFile, projectFolderOf } from './find-project.js';

/** A value that a layer gives for a setting, and its place for messages. */
export interface LayerEntry {
  readonly value: unknown;
  readonly where: string;
}

export interface SettingsFile {
  /** Absolute; null where there is none. */
  readonly file: string | null;
  /** The folder that holds the file, or its `config/`; the base of relative paths. */
  readonly projectDir: string;
  /** Shown to the user: how the file was found. */
  readonly warnings: readonly string[];
  readonly entries: ReadonlyMap<string, LayerEntry>;
}

const MAX_FILE_BYTES = 1024 * 1024;
/** Protects the memory against YAML aliases that expand exponentially. */
const MAX_ALIASES = 100;

/** The package takes time and memory that grow faster than the depth, and ends the process where a text is only brackets. */
const MAX_DEPTH = 100;
/** On its stack of what is open, the parser has a list or map and an entry of it for each level. */
const OPEN_PER_LEVEL = 2;

const BLANK_HINT = 'a value needs a colon and a blank before it';

/** No file: every setting comes from elsewhere, and relative paths count from the folder. */
export function noSettingsFile(cwd: string): SettingsFile {
  return { file: null, projectDir: cwd, warnings: [], entries: new Map() };
}

/** @throws SettingsError naming file, line and column. */
export function readSettingsFile(cwd: string, wanted: string | undefined): SettingsFile {
  const { file, warnings } =
    wanted === undefined ? findSettingsFile(cwd) : { file: path.resolve(cwd, wanted), warnings: [] };
  if (file === null) return { ...noSettingsFile(cwd), warnings };
  const displayPath = path.relative(cwd, file).startsWith('..') ? file : path.relative(cwd, file);
  return {
    file,
    projectDir: projectFolderOf(file),
    warnings,
    entries: parse(readText(file, displayPath), displayPath),
  };
}

function readText(file: string, displayPath: string): string {
  try {
    return readBoundedFile(file, MAX_FILE_BYTES)
      .toString()
      .replace(/^\uFEFF/, '');
  } catch (error) {
    throw new SettingsError(`cannot read the settings file ${displayPath}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parse(text: string, displayPath: string): Map<string, LayerEntry> {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${displayPath}:${line}:${col}`;
  };
  const composer = new Composer({ prettyErrors: false, uniqueKeys: true });
  const documents = [...composer.compose(tokensOf(text, lines, at))];
  for (const document of documents) {
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem) {
      const hint = problem.code === 'MULTILINE_IMPLICIT_KEY' ? `; ${BLANK_HINT}` : '';
      throw new SettingsError(`${at(problem.pos[0])}: not valid YAML: ${problem.message}${hint}`);
    }
  }
  if (documents.length > 1) throw new SettingsError(`${displayPath}: more than one YAML document; keep one`);
  const document = documents[0];
  const root = document?.contents;
  const entries = new Map<string, LayerEntry>();
  if (!document || root === null || root === undefined || (isScalar(root) && root.value === null))
    return entries;
  if (!isMap(root))
    throw new SettingsError(`${displayPath}: expected a map of settings, NAME: value; ${BLANK_HINT}`);
  for (const pair of root.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
    const where = at((pair.key as { range?: [number, number, number] }).range?.[0] ?? 0);
    entries.set(key, { value: toPlain(document, pair.value, where, key), where });
  }
  return entries;
}

/** @throws SettingsError for what is nested too deeply */
function* tokensOf(text: string, lines: LineCounter, at: (offset: number) => string): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length <= MAX_DEPTH * OPEN_PER_LEVEL) continue;
    const what = `lists and maps within each other more than ${MAX_DEPTH} deep`;
    throw new SettingsError(`${at(parser.offset)}: not valid settings: ${what}`);
  }
  yield* parser.end();
}

function toPlain(document: Document.Parsed, node: unknown, where: string, key: string): unknown {
  if (node === null || node === undefined) return null;
  let value: unknown;
  try {
    value = (node as { toJS(doc: unknown, options: object): unknown }).toJS(document, {
      maxAliasCount: MAX_ALIASES,
    });
  } catch (error) {
    throw new SettingsError(`${where}: ${key}: ${(error as Error).message}`, { cause: error });
  }
  if (containsItself(value)) throw new SettingsError(`${where}: ${key}: an alias refers to what contains it`);
  return value;
}

/** @param around the lists and maps that hold the value */
function containsItself(value: unknown, around: readonly unknown[] = []): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (around.includes(value)) return true;
  return Object.values(value).some((inner) => containsItself(inner, [...around, value]));
}

/** Read the settings file: YAML, with the place of every key, so that a refusal can name it. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Document, isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import { SettingsError } from '../errors.js';
import { findSettingsFile, projectFolderOf } from './find-project.js';

/** One setting as a layer gives it: its value, and where, for messages. */
export interface Written {
  readonly value: unknown;
  readonly where: string;
}

export interface SettingsFile {
  /** Absolute; null where there is none. */
  readonly file: string | null;
  /** The folder that holds the file, or its `config/`; relative paths count from here. */
  readonly projectDir: string;
  /** Sentences for the user about how the file was found. */
  readonly warnings: readonly string[];
  readonly entries: ReadonlyMap<string, Written>;
}

const MAX_FILE_BYTES = 1024 * 1024;
/** An alias bomb expands to more nodes than this long before it fills the memory. */
const MAX_ALIASES = 100;

/** @throws SettingsError naming file, line and column. */
export function readSettingsFile(cwd: string, wanted: string | undefined): SettingsFile {
  const { file, warnings } =
    wanted === undefined ? findSettingsFile(cwd) : { file: path.resolve(cwd, wanted), warnings: [] };
  if (file === null) return { file, projectDir: cwd, warnings, entries: new Map() };
  const shown = path.relative(cwd, file).startsWith('..') ? file : path.relative(cwd, file);
  return { file, projectDir: projectFolderOf(file), warnings, entries: parse(readText(file, shown), shown) };
}

function readText(file: string, shown: string): string {
  try {
    const size = statSync(file).size;
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new SettingsError(`cannot read the settings file ${shown}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parse(text: string, shown: string): Map<string, Written> {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: true } as const;
  const documents: Document.Parsed[] = [...parseAllDocuments(text, options)];
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${shown}:${line}:${col}`;
  };
  for (const document of documents) {
    const wrong = document.errors[0] ?? document.warnings[0];
    if (wrong) throw new SettingsError(`${at(wrong.pos[0])}: not valid YAML: ${wrong.message}`);
  }
  if (documents.length > 1) throw new SettingsError(`${shown}: more than one YAML document; keep one`);
  const document = documents[0];
  const root = document?.contents;
  const entries = new Map<string, Written>();
  if (!document || root === null || root === undefined || (isScalar(root) && root.value === null))
    return entries;
  if (!isMap(root)) throw new SettingsError(`${shown}: expected a map of settings, NAME: value`);
  for (const pair of root.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
    const where = at((pair.key as { range?: [number, number, number] }).range?.[0] ?? 0);
    entries.set(key, { value: toPlain(document, pair.value, where, key), where });
  }
  return entries;
}

function toPlain(document: Document.Parsed, node: unknown, where: string, key: string): unknown {
  if (node === null || node === undefined) return null;
  try {
    return (node as { toJS(doc: unknown, options: object): unknown }).toJS(document, {
      maxAliasCount: MAX_ALIASES,
    });
  } catch (error) {
    throw new SettingsError(`${where}: ${key}: ${(error as Error).message}`, { cause: error });
  }
}

/** Each error code has its part in the troubleshooting page, and each reason of a failure is explained. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { failedReasons } from '../../src/crawler/requests/failed-reasons.js';
import { downloadFailures } from '../../src/downloader/download-error.js';
import { commandErrorCodes } from '../../src/error-codes.js';
import { pages, root } from './pages.js';

const pageOf = (file: string) => pages.find((page) => page.file === file)!;

it('every error code a command can end with is a heading of the troubleshooting page', () => {
  const { headings } = pageOf('docs/guide/troubleshooting.md');
  expect(Object.keys(commandErrorCodes).filter((code) => !headings.includes(code))).toEqual([]);
});

it('every reason of a failure is named where failures are explained', () => {
  const { inlineCode } = pageOf('docs/guide/failures-and-retries.md');
  expect(reasonsInSource().filter((reason) => !inlineCode.includes(reason))).toEqual([]);
});

it('the help of "failed" lists no reason that nothing gives', () => {
  const lists = ['failed-reasons.ts', 'error-codes.ts'];
  const others = failedReasons.filter((reason) => !(downloadFailures as readonly string[]).includes(reason));
  const source = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|lua)$/.test(file) && !lists.includes(path.basename(file)))
    .map((file) => readFileSync(path.join(root, 'src', file), 'utf8'))
    .join('\n');
  expect(others.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
});

/** Those of downloads, and those that the engine and the stores give. */
function reasonsInSource(): string[] {
  const downloads = Object.keys(commandErrorCodes)
    .filter((code) => code.startsWith('download_'))
    .map((code) => code.slice('download_'.length));
  const folders = ['src/node/page', 'src/frontier'];
  const given = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|lua)$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(path.join(root, folder, file), 'utf8');
        return [
          ...text.matchAll(/kind: 'failed',\s+reason: '([a-z_]+)'|failed\(work, \{ reason: '([a-z_]+)'/g),
        ].map(([, one, other]) => (one ?? other)!);
      }),
  );
  const ofSpiderCode = [
    'callback_error',
    'pipeline_error',
    'invalid_item',
    'too_many_items',
    'invalid_request',
    'crashed',
    'http_status',
  ];
  return [...new Set([...downloads, ...given, ...ofSpiderCode])].filter((reason) => reason !== 'aborted');
}

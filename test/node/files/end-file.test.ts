/** What is known of a file when its request is leased. */
import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/log.js';
import { type FileWork, fileWithoutDownload } from '../../../src/node/files/end-file.js';
import { pathOf } from '../../../src/pipelines/files/file-path.js';
import { FileStage } from '../../../src/pipelines/files/file-stage.js';
import { FilesPipeline } from '../../../src/pipelines/files/media-pipeline.js';
import { FolderStore } from '../../../src/pipelines/files/store/folder-store.js';
import { RetryingStore } from '../../../src/pipelines/files/store/retrying-store.js';
import { tempDir } from '../../helpers/temp-dir.js';

const url = 'https://shop.example/a';
const item = { file_urls: [url] };

function stageIn(dir: string): FileStage {
  const pipeline = new FilesPipeline();
  FilesPipeline.configure(pipeline, { urlsOf: () => [url], pathOf, resultField: 'files' });
  return new FileStage({
    ...{ name: 'FilesPipeline', pipeline, maxAgeMs: 60_000, maxBytes: 0, allowsRedirects: false },
    store: new RetryingStore(new FolderStore(dir, null), { giveUpMs: 0, log: silentLogger }),
    judge: async () => ({ extension: null }),
    extensionsOf: () => [''],
  });
}

it('a file that two nodes died of is given up, unless one of them had stored it', async () => {
  const stage = stageIn(tempDir('files').dir);
  const { signal } = new AbortController();
  const after = (crashes: number) =>
    fileWithoutDownload({
      flight: { lease: { crashes }, signal },
      record: { url, waitingItem: { pipeline: 'FilesPipeline', item, files: [] } },
      deps: { pipelines: { fileStage: () => stage } },
    } as unknown as FileWork);
  expect(await after(1)).toBeNull();
  expect(await after(2)).toEqual({ failed: 'crashed' });
  const { path } = await stage.receive(url, { status: 200, body: Buffer.from('x') }, item, signal);
  expect(await after(2)).toMatchObject({ earlier: { url, path, status: 'uptodate' } });
});

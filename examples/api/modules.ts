/** Pipelines, middleware and extensions: examples of the API page (docs/reference/api.md). Each is the default export of a module. */
import {
  CloseSpider,
  type CommittedItem,
  type CrawlContext,
  type DownloaderMiddleware,
  DropItem,
  type Extension,
  type ExtensionEvents,
  type FilePathInput,
  type FileResult,
  FilesPipeline,
  type IdleRequests,
  IgnoreRequest,
  ImagesPipeline,
  type ItemPipeline,
  type OutgoingRequest,
  type PipelineInput,
  Request,
  type RequestModule,
  type Response,
  type SpiderMiddleware,
  type SpiderResult,
} from 'crawlnode';

//#region ItemPipeline, PipelineInput, DropItem
// ITEM_PIPELINES: { ./pipelines/clean.ts: 300 }
export class Clean implements ItemPipeline {
  processItem({ item }: PipelineInput) {
    if (item.price === null) throw new DropItem('no price');
    return { ...item, name: item.name.trim() };
  }
}
//#endregion

//#region CommittedItem, CrawlContext
// Items that are upserted by their ids are in the database exactly once.
export class Store implements ItemPipeline {
  #url = '';
  open({ settings, job }: CrawlContext) {
    this.#url = `${settings.JOBDIR}/${job ?? 'unnamed'}`;
  }
  async committed(items: readonly CommittedItem[]) {
    for (const { id, item } of items) await upsert(this.#url, id, item);
  }
}
declare function upsert(url: string, id: string, item: unknown): Promise<void>;
//#endregion

//#region FileResult
// FilesPipeline and ImagesPipeline add a list of these to the item.
export const pathsOf = ({ item }: PipelineInput) =>
  (item.files as FileResult[]).filter(({ status }) => status !== 'failed').map(({ path }) => path);
//#endregion

//#region FilesPipeline, FilePathInput
// ITEM_PIPELINES: { ./pipelines/manuals.ts: 1 }
export class Manuals extends FilesPipeline {
  override filePath({ item, extension }: FilePathInput) {
    return `manuals/${item.sku}.${extension || 'bin'}`;
  }
}
//#endregion

//#region ImagesPipeline
// ITEM_PIPELINES: { ./pipelines/covers.ts: 1 }
export class Covers extends ImagesPipeline {
  override getMediaRequests(item: { cover: string; page: string }) {
    return [new Request(item.cover, { headers: { Referer: item.page } })];
  }
  override itemCompleted([cover]: readonly FileResult[], item: object) {
    return { ...item, cover: cover?.path };
  }
}
//#endregion

//#region DownloaderMiddleware, OutgoingRequest, IgnoreRequest
// DOWNLOADER_MIDDLEWARES: { ./middlewares/token.ts: 350 }
export const token: DownloaderMiddleware = {
  processRequest(request: OutgoingRequest) {
    if (request.url.includes('/private/')) throw new IgnoreRequest('private pages are not wanted');
    request.headers.authorization = `Bearer ${process.env.TOKEN ?? ''}`;
  },
  processResponse: (_request, response) => response,
};
//#endregion

//#region SpiderMiddleware, SpiderResult
// SPIDER_MIDDLEWARES: { ./middlewares/source.ts: 500 }
export const source: SpiderMiddleware = {
  async *processSpiderOutput(response: Response, results: AsyncIterable<SpiderResult>) {
    for await (const result of results) {
      yield result instanceof Request ? result : { ...result, source: response.url };
    }
  },
};
//#endregion

//#region Extension, ExtensionEvents, IdleRequests, CloseSpider
// EXTENSIONS: { ./extensions/watch.ts: 500 }
export class Watch implements Extension {
  #errors = 0;
  spiderError({ error }: ExtensionEvents['spiderError']) {
    this.#errors += 1;
    if (this.#errors > 100) throw new CloseSpider(`too many errors, such as ${error.message}`);
  }
  spiderIdle(): IdleRequests {
    return ['https://shop.example/latest'];
  }
}
//#endregion

//#region RequestModule
// REQUEST_MODULE: ./requests.ts
export const requests: RequestModule = {
  id: 'products-1',
  // A text is hashed: the same product under several addresses is fetched once.
  fingerprint: (request) => request.url.replace(/[?#].*$/, ''),
  priority: (request, { depth }) => request.priority - depth,
};
//#endregion

/**
 * How the request of a file ends: its result is added to the item that the request carries. The settle commits either the
 * request of the next file or the finished item.
 */
import type { Effects } from '../../frontier/frontier.js';
import type { FileResult, RequestRecord } from '../../http/message/record/request-record.js';
import type { FileAnswer, FileStage } from '../../pipelines/files/file-stage.js';
import type { ItemPipelines } from '../../pipelines/item-pipeline.js';
import type { Signals } from '../extensions/signals.js';
import type { LinkRules } from '../links/filter-links.js';
import type { DeadEnds } from '../page/dead-ends.js';
import type { Flight } from '../page/flight.js';
import { settledItems } from '../page/settle-effects.js';

/** A request of a file in work. */
export interface FileWork {
  readonly flight: Flight;
  readonly record: RequestRecord;
  readonly counters: Record<string, number>;
  readonly deps: {
    readonly pipelines: ItemPipelines;
    readonly rules: LinkRules;
    readonly deadEnds: DeadEnds;
    readonly signals: Signals | null;
  };
}

/** The result of a download: a response, or the reason why there is none. */
export type FileEnd =
  | FileAnswer
  | { readonly failed: string }
  | { readonly earlier: FileResult }
  /** The file store could not be asked, or the code of the project threw: the request fails, and its item with it. */
  | { readonly thrown: unknown };

/** After this many crashes the file counts as failed. One more crash would fail the request, and lose its item. */
const DEADLY_CRASHES = 2;

/**
 * The effects of the settle.
 * @throws CrawlnodeError `files_unwritable`, `bad_record`, and errors of the pipelines behind
 */
export async function endFile(work: FileWork, end: FileEnd): Promise<Effects> {
  const { flight, record, counters, deps } = work;
  const waiting = record.waitingItem!;
  const result = await resultOf(work, end);
  counters.file_count = (counters.file_count ?? 0) + 1;
  const status = `file_status_count/${result.status}`;
  counters[status] = (counters[status] ?? 0) + 1;
  const processed = await deps.pipelines.goOn(waiting, result, deps.signals?.observer(work));
  const carrier = { lease: flight.lease, record, ...deps };
  return settledItems(processed, { requests: [] }, counters, carrier);
}

/** The result of a file that needs no download, because it was fetched before; null when it must be downloaded. */
export async function fileWithoutDownload(work: FileWork): Promise<FileEnd | null> {
  const stage = stageOf(work);
  if (stage === null) return { failed: 'no_pipeline' };
  try {
    const earlier = await stage.known(urlOf(work, stage), work.record.waitingItem!.item, work.flight.signal);
    if (earlier !== null) return { earlier };
  } catch (thrown) {
    return { thrown };
  }
  // Checked after the store, because a node may have stored the file before it died.
  return work.flight.lease.crashes >= DEADLY_CRASHES ? { failed: 'crashed' } : null;
}

/** Wait until no other request of this node fetches the same file, then run. */
export function inTurn<T>(work: FileWork, run: () => Promise<T>): Promise<T> {
  const stage = stageOf(work);
  return stage === null ? run() : stage.inTurn(urlOf(work, stage), run);
}

/** Whether a redirect of the file is followed. */
export function followsRedirects(work: FileWork): boolean {
  return stageOf(work)?.options.allowsRedirects === true;
}

function stageOf({ record, deps }: FileWork): FileStage | null {
  return deps.pipelines.fileStage(record.waitingItem!.pipeline);
}

/** The URL as the item has it. Where the item of a foreign record has no such URL, the URL of the request is used. */
function urlOf({ record }: FileWork, stage: FileStage): string {
  const { item, files } = record.waitingItem!;
  return stage.urlAt(item, files.length) ?? record.url;
}

async function resultOf(work: FileWork, end: FileEnd): Promise<FileResult> {
  if ('earlier' in end) return end.earlier;
  if ('thrown' in end) throw end.thrown;
  const stage = stageOf(work);
  // `goOn` refuses an item whose pipeline is not configured.
  if (stage === null) return { url: work.record.url, path: null, checksum: null, status: 'failed' };
  const url = urlOf(work, stage);
  if ('failed' in end) return stage.fail(url, end.failed);
  return stage.receive(url, end, work.record.waitingItem!.item, work.flight.signal);
}

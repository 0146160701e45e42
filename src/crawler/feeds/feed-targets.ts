/** The files of a crawl, as `-o`, `-O` and FEEDS name them. */
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../errors.js';
import { feedId } from '../../feed-outbox.js';
import {
  BATCH_ID,
  compressed,
  type FeedDescription,
  feedFormat,
  namedFeed,
} from '../../pipelines/feeds/formats/feed-format.js';
import type { Settings } from '../../settings/schema.js';

export interface FeedTarget extends FeedDescription {
  /** `feedId` of this host. */
  readonly id: string;
  readonly overwrite: boolean;
  /** Items go to standard output, and `path` is its name. */
  readonly isStdout?: boolean;
}

/** Values of the placeholders in a file's name, such as `%(name)s`. */
export interface FeedNames {
  /** The spider. */
  readonly name: string;
  readonly job: string | null;
  /** The start of the command. */
  readonly time: Date;
}

/** @throws UsageError for a file without a known extension, a file that is not local, or a file that is named twice. */
export function feedTargets(
  cwd: string,
  append: readonly string[],
  overwrite: readonly string[],
  settings: Pick<Settings, 'FEEDS'>,
  names?: FeedNames,
): FeedTarget[] {
  const given = [
    ...append.map((file) => ({ file, fresh: false })),
    ...overwrite.map((file) => ({ file, fresh: true })),
  ];
  const ofSettings = feedsOfSettings(settings, names);
  const targets =
    given.length > 0
      ? given.map(({ file: text, fresh }) => {
          const { file, format } = namedFeed(text);
          if (file === '-') return stdoutTarget(format);
          const found = target(localPath(expanded(file, names), cwd), format, fresh);
          const configured = ofSettings.find(({ id }) => id === found.id);
          if (configured === undefined) return { ...found, escapeFormulas: false };
          const { format: usual } = configured;
          return {
            ...configured,
            overwrite: fresh,
            format: usual.endsWith('.gz') ? compressed(found.format) : found.format,
          };
        })
      : ofSettings;
  const twice = targets.find(({ id }, n) => targets.findIndex((other) => other.id === id) !== n);
  if (twice !== undefined) throw new UsageError(`${twice.path} is given twice as a file of items`);
  return targets;
}

/** The files that FEEDS names. @throws UsageError for one without a known extension or format. */
export function feedsOfSettings({ FEEDS }: Pick<Settings, 'FEEDS'>, names?: FeedNames): FeedTarget[] {
  return Object.entries(FEEDS).map(([file, feed]) => {
    const { fields, batch_item_count: batchItems = 0 } = feed;
    const isStdout = STDOUT_URI.test(file);
    const found = isStdout
      ? stdoutTarget(feed.format)
      : target(localPath(expanded(file, names, batchItems > 0), '/'), feed.format, feed.overwrite ?? false);
    return {
      ...found,
      batchItems: isStdout ? 0 : batchItems,
      itemFilter: feed.item_filter ?? null,
      format: (feed.postprocessing ?? []).length > 0 ? compressed(found.format) : found.format,
      escapeFormulas: feed.escape_formulas ?? false,
      fields: Array.isArray(fields)
        ? Object.fromEntries(fields.map((field) => [field, field]))
        : (fields ?? null),
      indent: feed.indent ?? 0,
      storeEmpty: feed.store_empty ?? true,
    };
  });
}

/** As Scrapy names standard output in FEEDS. */
const STDOUT_URI = /^stdout:/i;

function stdoutTarget(format = 'jsonl'): FeedTarget {
  const path = 'stdout';
  // /dev/stdout is not used: it is another file in each process.
  const id = feedId(os.hostname(), '/stdout:');
  return {
    ...{ id, path, format: feedFormat('', format), overwrite: false },
    isStdout: true,
  };
}

/**
 * Replace the placeholders of a name. Without `names`, as for the file of another run, the name is unchanged.
 * `%(batch_id)d` always stays. @param inBatches whether the name must contain it, or must not
 */
function expanded(file: string, names: FeedNames | undefined, inBatches = false): string {
  if (inBatches !== file.search(BATCH_ID) >= 0) {
    const why = inBatches
      ? 'batch_item_count needs %(batch_id)d in the name of the file, such as items-%(batch_id)03d.jsonl'
      : '%(batch_id)d in the name of a file needs batch_item_count in FEEDS';
    throw new UsageError(`${file}: ${why}`);
  }
  if (names === undefined) return file;
  const values: Readonly<Record<string, string>> = {
    name: names.name,
    job: names.job ?? 'default',
    // As in Scrapy: an ISO date without colons.
    time: `${names.time.toISOString().slice(0, 19).replaceAll(':', '-')}+00-00`,
  };
  return file.replace(/%\((\w+)\)(\d*[sd])/g, (part, name: string) => {
    if (name === 'batch_id') return part;
    const value = values[name];
    if (value !== undefined) return value;
    const placeholders =
      'use %(name)s (the spider), %(job)s, %(time)s, and %(batch_id)d with batch_item_count';
    throw new UsageError(`${file}: unknown placeholder ${part} in the name of a file: ${placeholders}`);
  });
}

function target(file: string, format: string | undefined, overwrite: boolean): FeedTarget {
  const id = feedId(os.hostname(), file);
  return { id, path: file, format: feedFormat(file, format), overwrite };
}

/** @throws UsageError for a target that is no local file. */
function localPath(file: string, cwd: string): string {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(file) ?? [];
  if (scheme === undefined) return path.resolve(cwd, file);
  if (scheme.toLowerCase() === 'file') return fileURLToPath(file);
  throw new UsageError(
    `${file}: items are written to local files, not to ${scheme}://. Write a file and copy it there after the crawl, or write the items there yourself: committed() of an item pipeline.`,
  );
}

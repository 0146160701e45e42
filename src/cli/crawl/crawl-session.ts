/** The resources of a running crawl command: log, progress display and signal handlers. */
import type { FeedTarget } from '../../crawler/feeds/feed-targets.js';
import type { LoadedSpider } from '../../crawler/project/load-spider.js';
import type { RunGates } from '../../crawler/run/run-gates.js';
import { nodeIdOf } from '../../crawler/run/run-node.js';
import { messageOf } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { OpenOptions } from '../../frontier/open-options.js';
import type { Logger } from '../../log.js';
import type { FeedRecords } from '../../pipelines/feeds/feed-records.js';
import type { Context } from '../context.js';
import { createLogger, type OpenLogger } from '../log/logger.js';
import { fatalFieldsOf } from '../messages/error-report.js';
import { type Signals, watchSignals } from '../signals/crawl-signals.js';
import { logStopping } from './notices.js';
import { createDisplay, type Display } from './progress.js';
import { Rejections } from './rejections.js';
import type { WorkerRole } from './worker-channel.js';

/** The input of a crawl command: spider, store, feeds and options. */
export interface Crawl {
  readonly context: Context;
  readonly spider: LoadedSpider;
  /** The arguments that select it, for commands in messages. */
  readonly crawlArguments: string;
  /** Set in a child of `--workers`. */
  readonly role: WorkerRole | null;
  readonly open: OpenOptions;
  readonly frontier: Frontier;
  readonly targets: readonly FeedTarget[];
  readonly records: FeedRecords;
  /** How many nodes this command runs. */
  readonly nodes: number;
  readonly exitWhenDone: boolean;
  readonly gates: RunGates;
}

/** The resources of a running crawl command. */
export interface CrawlSession {
  readonly nodeId: string;
  readonly log: Logger;
  readonly fatal: OpenLogger['fatal'];
  readonly display: Display;
  readonly signals: Signals;
  readonly rejections: Rejections;
}

/** Create the session, call `run`, and always close the session. */
export async function withCrawlSession(
  crawl: Crawl,
  run: (session: CrawlSession) => Promise<number>,
): Promise<number> {
  const { context, role, spider } = crawl;
  const { settings } = spider.loaded;
  const configured =
    settings.NODE_ID !== null && role !== null ? `${settings.NODE_ID}-${role.number}` : settings.NODE_ID;
  const nodeId = nodeIdOf(configured);
  const display = await createDisplay(context, role === null ? settings.LOGSTATS_INTERVAL * 1000 : 0);
  const job = settings.JOB === null ? {} : { job: settings.JOB };
  const fields = { node: nodeId, spider: spider.found.name, ...job };
  const { log, fatal, close } = await createLogger(context, settings, fields, display.sink, {
    node: crawl.nodes > 1 || role !== null,
  });
  const signals = watchSignals((signal, count) => role === null && logStopping(log, signal, count));
  // A promise that spider code did not await must not stop the node, which processes other pages too.
  const rejections = new Rejections();
  const onRejection = (error: unknown) => rejections.note(error, log);
  process.on('unhandledRejection', onRejection);
  try {
    return await run({ nodeId, log, fatal, display, signals, rejections });
  } catch (error) {
    // The error is printed on stderr at the end of the process. The log file needs its own entry.
    if (settings.LOG_FILE !== null) fatal(fatalFieldsOf(error), messageOf(error));
    throw error;
  } finally {
    process.off('unhandledRejection', onRejection);
    signals.dispose();
    display.stop();
    await close();
  }
}

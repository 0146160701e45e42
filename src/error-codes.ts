/**
 * Every code of a `CrawlnodeError` and its meaning. Codes are stable, because scripts compare them.
 * docs/guide/troubleshooting.md has a heading for each code that a command can end with.
 */

/**
 * Codes that a command can end with. With `--json`, and when stderr is not a terminal, the last line of stderr has the
 * code in its field `code`. Each value says what happened. The message of the error names the object and the remedy.
 */
export const commandErrorCodes = {
  usage: 'the command line is wrong, or what was asked cannot be done',
  settings: 'a setting is unknown, has a wrong value, or contradicts another',
  spider: 'the spider cannot be found, or its module does not load',
  no_such_crawl: 'the store holds no data of this crawl',
  not_begun: 'the crawl has not begun, so it cannot be paused',
  invalid_request: 'a request, item or seed holds something that cannot be stored or sent',
  invalid_url: 'a URL is not one that can be requested',
  bad_record: 'a stored request cannot be read',
  bad_seed: 'a seed cannot be turned into a request',
  record_too_large: 'a request is too large to be stored',

  refused: 'the store refuses',
  live_nodes: 'nodes are crawling, and the command needs them to stop first',
  other_library: 'other functions are loaded into Redis under the name of those of crawlnode',
  arguments: 'the run was started with other arguments (-a), which all its nodes share',
  shape: 'the crawl in the store was begun with other settings that all its nodes must share',
  format: 'the crawl in the store was written by another version of crawlnode',
  foreign_key: 'a key of the crawl holds something that crawlnode did not write',
  foreign_file: 'the file of the embedded store was not written by crawlnode',
  eviction_policy: 'Redis may evict keys when its memory is full',
  server_version: 'the Redis server is too old',
  intset_entries: 'a limit of the Redis server is too low for CompactDupeFilter',
  network_folder: 'JOBDIR lies on a network file system',
  shared_folder: 'JOBDIR is shared between containers whose processes cannot see each other',
  feed_held: 'another process writes this file of items',
  feed_format: 'the file of items was begun in another format',
  feed_elsewhere: 'the path leads to another file than the one that the crawl wrote',
  feed_changed: 'the file of items was changed by something else',
  feed_unwritable: 'the file of items cannot be written, or an item pipeline does not accept committed items',
  files_unwritable: 'files or images cannot be written to their folder or bucket',
  cannot_listen: 'the port of the dashboard is taken, or may not be used',
  restoring: 'a restore of this crawl was cut off and must be finished first',
  not_empty: 'the crawl already holds data, which a restore would mix with that of the backup',
  dupefilter: 'the backup was made with another dupefilter',
  other_bits: 'the backup holds a BloomDupeFilter with another layout',
  cannot_forget: 'the dupefilter of this crawl cannot forget single requests',
  backup_damaged: 'the backup is cut off or damaged',
  backup_outdated: 'the crawl changed while it was backed up',
  backup_unwritable: 'the backup cannot be written',

  frontier_unavailable: 'the store cannot be reached',
  unauthorized: 'Redis does not accept the user name, the password or the rights of the user',
  disk_full: 'the disk of the embedded store is full',
  frontier_locked: 'another process holds the lock of the embedded store for too long',
  frontier_closed: 'the store was used after it was closed',
  frontier_gone: 'the records of the crawl were deleted while a node was running',
  damaged_store: 'the file of the embedded store is damaged',
  outbox_damaged: 'items that wait for their file cannot be read',
  log_file: 'LOG_FILE cannot be written',
  not_finished: 'the crawl ended in another way than finished, with --must-finish',
  nothing_succeeded: 'all pages of the run failed, answered with an error or were forbidden by robots.txt',
  too_many_of_status: 'a larger share of the pages of the run ended with a status than --max-status allows',
  too_few_items: 'the run, over all its nodes, gave fewer items than --min-items',
  too_many_failed: 'more requests of the run failed than --max-failed allows',
  main_loop_stuck: 'the code of a page blocked the node for longer than MAIN_LOOP_TIMEOUT',
  start_failed: 'start() of the spider threw an error, so the crawl cannot be complete',
  hook_error: 'a hook of the spider, such as opened(), threw an error',

  request_module: 'REQUEST_MODULE threw an error, or gave no fingerprint or priority',
  unknown_callback: 'a callback is not a method of the spider',
  callback_failed: 'a callback threw an error',
  callback_timeout: 'an asynchronous callback was not over after CALLBACK_TIMEOUT',
  invalid_item: 'an item cannot be stored, or breaks the schema of the spider',
  invalid_stat: 'a stat of the spider has a name or a value that cannot be stored',
  too_many_items: 'a page yields more items than MAX_ITEMS_PER_PAGE',
  pipeline_error: 'an item pipeline threw an error',
  middleware_error: 'a downloader or spider middleware threw an error',
  extension_error: 'open() of an extension threw an error',
  bad_json: 'the body of a page is not valid JSON',
  selector_cost: 'a page makes a CSS selector too costly; the message names the selector',
  too_complex: 'the body of a page has more elements, texts or values than DOWNLOAD_MAX_NODES allows',
  shell_code: 'code that was given to "crawlnode shell" threw an error',
  robots_forbidden: 'the robots.txt of the site forbids the page, or cannot be read',
  too_many_redirects: 'a page redirects more often than REDIRECT_MAX_TIMES',

  download_timeout: 'the server did not respond in time',
  download_dns_not_found: 'there is no host of this name',
  download_dns_try_again: 'the name of the host could not be resolved at the moment',
  download_connection_refused: 'the server refused the connection',
  download_connection_reset: 'the server closed the connection without a response',
  download_unreachable: 'the host cannot be reached',
  download_network: 'the network failed',
  download_tls: 'TLS failed, for example for an invalid certificate',
  download_too_large: 'the body is larger than DOWNLOAD_MAXSIZE',
  download_headers_too_large: 'the response headers are too large',
  download_body_truncated: 'the connection was lost in the middle of the body',
  download_bad_encoding: 'the body is not encoded as its header says',
  download_too_slow: 'the body came more slowly than DOWNLOAD_MIN_RATE',
  download_not_http: 'the response is not HTTP',
  download_bad_status: 'the status line of the response is not valid HTTP',
  download_bad_header: 'a header of the response is not valid HTTP',
  download_bad_framing: 'the length of the body, or of a chunk, is not valid HTTP',
  download_bad_response: 'the response is not valid HTTP in another way',
  download_proxy_error: 'the proxy cannot be reached',
  download_proxy_auth: 'the proxy does not accept the user name or password',
  download_proxy_refused: 'the proxy did not connect to the site',
  download_private_address: 'the host is at a private address, which this request may not connect to',
  download_bad_request: 'the request cannot be sent as it is',
  download_not_cached: 'the page is not in the HTTP cache, and HTTPCACHE_IGNORE_MISSING is set',
  download_aborted: 'the download was stopped',

  unexpected: 'an error that crawlnode does not expect; please report it',
} as const;

/** Codes that are handled inside the program. No command ends with them. */
export const internalErrorCodes = {
  drop_item: 'a pipeline dropped an item; the page is done',
  close_spider: 'a page closes the crawl; the page is done',
  ignore_request: 'a middleware dropped a page; the page is done',
  incarnation_dead: 'the store has declared this node dead, so the node joins again',
  store_replaced: 'the store was restarted or replaced, perhaps by an older copy, so the node joins again',
  feed_rolled_back:
    'the checkpoint of a feed file in the store is older than the file, so the writer returns to the checkpoint',
  bad_sitemap: 'a sitemap cannot be parsed; the other sitemaps are still read',
  bad_feed: 'an XML or CSV feed cannot be parsed',
  bad_status: 'the server of a sitemap responded with an error; the other sitemaps are still read',
  bad_gzip: 'a compressed sitemap cannot be decompressed; the other sitemaps are still read',
  unreadable: 'a sitemap file cannot be opened; the other sitemaps are still read',
} as const;

/** A code that a command can end with. */
export type CommandErrorCode = keyof typeof commandErrorCodes;

/** The stable, machine-readable name of an error. */
export type ErrorCode = CommandErrorCode | keyof typeof internalErrorCodes;

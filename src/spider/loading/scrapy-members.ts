/** Members of a spider as Scrapy and Scrapy-Redis name them. Here they would do nothing, and in silence. */
import type { Spider } from '../spider.js';

const ours: Readonly<Record<string, string>> = {
  start_urls: 'startUrls',
  start_requests: 'startUrls, which takes Requests too',
  allowed_domains: 'allowedDomains',
  custom_settings: 'customSettings',
  parse_start_url: 'parseStartUrl',
  make_request_from_data: 'makeRequestFromData',
  redis_key: 'the setting REDIS_START_URLS_KEY',
  redis_batch_size: 'the setting REDIS_START_URLS_BATCH_SIZE',
  max_idle_time: 'the setting MAX_IDLE_TIME_BEFORE_CLOSE',
};

/** What is wrong with a spider that has one of them; null when it has none. */
export function scrapyMember(spider: Spider): string | null {
  const found = Object.keys(ours).find((name) => name in spider);
  return found === undefined ? null : `its spider has ${found}, which has no effect: use ${ours[found]}`;
}

/** Whether a retry of failed requests is worth it, by why they failed. */
import { downloadFailures, isRetryable } from '../../downloader/download-error.js';
import { isKept } from '../../frontier/callback-error-keep.js';

export interface RetryAdvice {
  /** `after_fix`: when what the advice names has changed. */
  readonly retry: 'yes' | 'after_fix' | 'no';
  readonly advice: string;
}

const yes = (advice: string): RetryAdvice => ({ retry: 'yes', advice });
const afterFix = (advice: string): RetryAdvice => ({ retry: 'after_fix', advice });
const no = (advice: string): RetryAdvice => ({ retry: 'no', advice });

const ofCode = afterFix('the code of the spider failed: fix it, try it with "crawlnode parse", then retry');

const byReason: Readonly<Record<string, RetryAdvice>> = {
  robots_unreachable: yes('their robots.txt could not be fetched: retry when the site answers again'),
  max_redirects: no('they redirect in a circle, or more often than REDIRECT_MAX_TIMES'),
  callback_error: ofCode,
  callback_timeout: afterFix(
    'the callback took longer than CALLBACK_TIMEOUT: fix it or raise the limit, then retry',
  ),
  invalid_item: afterFix('items do not match the schema: fix the spider or the schema, then retry'),
  too_many_items: afterFix('the page gave too many items: change the callback, then retry'),
  unknown_callback: afterFix('the spider lacks the callback: add it, then retry'),
  invalid_request: ofCode,
  pipeline_error: afterFix('an item pipeline failed: fix it, then retry'),
  middleware_error: afterFix('a downloader middleware failed: fix it, then retry'),
  request_module: afterFix('the module of REQUEST_MODULE failed: fix it, then retry'),
  files_unwritable: afterFix('their files could not be written: make room or rights, then retry'),
  crashed: afterFix('nodes died while they processed them: try one with "crawlnode parse", then retry'),
  bad_record: no('their records in the store cannot be read'),
  dns_not_found: no('the host does not exist'),
  tls: afterFix('the certificate or TLS of the site is not accepted: check it, then retry'),
  too_large: afterFix('the body is larger than DOWNLOAD_MAXSIZE: raise it if you want the pages, then retry'),
  proxy_error: afterFix('the proxy cannot be reached: check PROXIES, then retry'),
  proxy_auth: afterFix('the proxy refuses user or password: check PROXIES, then retry'),
  proxy_refused: afterFix('the proxy did not connect: check PROXIES, then retry'),
  private_address: no('a private address is refused; "crawlnode seed" trusts what you give it'),
  not_cached: afterFix('the HTTP cache lacks the page: allow downloads, then retry'),
  timeout: yes('the site did not answer in time: retry when it is faster, or raise DOWNLOAD_TIMEOUT'),
  too_slow: yes('the site sent too slowly: retry when it is faster'),
};

/** @param status of the last answer; null without one */
export function retryAdvice(reason: string, status: number | null): RetryAdvice {
  if (isKept(reason)) return no('their items are committed already; "retry --kept" would commit them twice');
  if (reason === 'http_status' && status !== null) return byStatus(status);
  const known = byReason[reason];
  if (known !== undefined) return known;
  const download = downloadFailures.find((failure) => failure === reason);
  if (download === undefined) return ofCode;
  return isRetryable(download)
    ? yes('the connection failed: retry when the site answers again')
    : no('the answer would be the same again');
}

function byStatus(status: number): RetryAdvice {
  if (status === 429) return afterFix('the site limits the rate: raise DOWNLOAD_DELAY, wait, then retry');
  if (status === 401 || status === 403)
    return afterFix('the site refuses the crawler: change headers, rate or proxy, then retry');
  if (status === 407) return byReason.proxy_auth!;
  if (status === 408 || status >= 500) return yes('the site had trouble: retry when it answers again');
  return no(`the site would answer ${status} again`);
}

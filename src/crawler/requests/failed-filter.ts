/** Selects failed requests: `--status`, `--domain`, `--reason`. */
import { UsageError } from '../../errors.js';
import { plainReason } from '../../frontier/callback-error-keep.js';
import { parseUrl } from '../../http/url/parse-url.js';
import { didYouMean } from '../../settings/nearest.js';
import { failedReasons, isFailedReason } from './failed-reasons.js';

/** The fields of a failed request that the filters read. */
export interface Filtered {
  readonly reason: string;
  readonly status: number | null;
  /** Null when the record was not kept. No domain matches then. */
  readonly url: string | null;
}

export type FailedFilter = (request: Filtered) => boolean;

/** A filter that requires all given options to match. @throws UsageError for an invalid status, domain or reason. */
export function failedFilter(options: Readonly<Record<string, unknown>>): FailedFilter {
  const tests: FailedFilter[] = [];
  if (typeof options.status === 'string') tests.push(byStatus(options.status));
  if (typeof options.domain === 'string') tests.push(byDomain(options.domain));
  if (typeof options.reason === 'string') {
    const reasons = words(options.reason, '--reason');
    for (const reason of reasons) refuseUnknown(reason);
    tests.push(({ reason }) => reasons.includes(reason) || reasons.includes(plainReason(reason)));
  }
  return (request) => tests.every((test) => test(request));
}

function refuseUnknown(reason: string): void {
  if (isFailedReason(reason)) return;
  const near = didYouMean(reason, failedReasons);
  throw new UsageError(
    `--reason ${reason}: unknown reason${near || `; the reasons are ${failedReasons.join(', ')}`}`,
  );
}

function byStatus(text: string): FailedFilter {
  const patterns = words(text, '--status').map((word) => {
    if (/^([1-9]\d\d|[1-5]xx)$/.test(word)) return word.replace('xx', '');
    throw new UsageError(`--status ${word}: expected a status such as 404, or a class such as 5xx`);
  });
  return ({ status }) => status !== null && patterns.some((pattern) => String(status).startsWith(pattern));
}

/** A domain with a port matches only that port. A domain without a port matches every port. */
function byDomain(text: string): FailedFilter {
  const wanted = text
    .trim()
    .toLowerCase()
    .replace(/^\*?\./, '');
  const site = wanted === '' || /[/@?#\s]/.test(wanted) ? null : parseUrl(`http://${wanted}/`);
  if (site === null) {
    throw new UsageError(`--domain ${text}: expected a host such as example.com, or example.com:8080`);
  }
  const { hostname, port } = site;
  return ({ url }) => {
    const at = url === null ? null : parseUrl(url);
    if (at === null) return false;
    if (port !== '' && at.port !== port) return false;
    return at.hostname === hostname || at.hostname.endsWith(`.${hostname}`);
  };
}

function words(text: string, option: string): string[] {
  const found = text.split(',').map((word) => word.trim().toLowerCase());
  if (found.includes('')) throw new UsageError(`${option}: expected one value, or several with commas`);
  return found;
}

/** Decode stored requests for the commands, and for the frontier when it repairs its indexes. */
import type { RecordedRequest } from '../../frontier/frontier.js';
import { decodeRecord } from '../../http/message/record/request-codec.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { domainOf } from '../../http/url/domain.js';
import type { Settings } from '../../settings/schema.js';

/** The decoded record; null where it was not stored or cannot be decoded. */
export function readRecord(record: string | null): RequestRecord | null {
  if (record === null) return null;
  try {
    return decodeRecord(record);
  } catch {
    return null;
  }
}

/** @returns null when the record cannot be decoded. */
export function recordedRequest(
  text: string,
  settings: Pick<Settings, 'DOMAIN_KEY'>,
): RecordedRequest | null {
  try {
    const record = decodeRecord(text);
    const { priority, acceptedAtMs } = record;
    return { domain: domainOfRecord(record, settings), priority, acceptedAtMs };
  } catch {
    return null;
  }
}

/** The politeness key: `meta.download_slot`, else the site. */
export function domainOfRecord(
  { url, meta }: Pick<RequestRecord, 'url' | 'meta'>,
  { DOMAIN_KEY }: Pick<Settings, 'DOMAIN_KEY'>,
): string {
  const slot = meta.download_slot;
  return typeof slot === 'string' && slot !== '' ? slot : domainOf(url, DOMAIN_KEY);
}

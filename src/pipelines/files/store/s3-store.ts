/**
 * Files of items in a bucket of S3-compatible storage. A PUT is atomic: an object exists completely or not at all. Its MD5
 * is sent with it, checked by the storage, and stored in the metadata of the object.
 */
import { createHash, randomUUID } from 'node:crypto';
import { messageOf } from '../../../errors.js';
import { s3Location } from '../../../settings/s3-location.js';
import { mediaType } from '../file-content.js';
import { type FileStore, type StoredFile, unwritable } from './file-store.js';
import type { S3 } from './s3-client.js';

/** Written and deleted at start. */
const PROBE = '.crawlnode-write-test';
/** The default of a bucket. It is not sent, since buckets without ACLs refuse the header. */
const DEFAULT_ACL = 'private';
const MD5_HEX = /^[0-9a-f]{32}$/;

export interface S3StoreOptions {
  /** `s3://bucket/prefix`, as `s3Location` accepts it. */
  readonly url: string;
  /** FILES_STORE_S3_ACL or IMAGES_STORE_S3_ACL. */
  readonly acl: string;
  /** `FileStore.awaits` */
  readonly awaits?: string;
  /** The first part of the path of each file; null where all hosts share their files. */
  readonly host: string | null;
}

export class S3Store implements FileStore {
  readonly place: string;
  readonly awaits: string | null;
  readonly #s3: S3;
  readonly #bucket: string;
  /** Before the path of a file; ends in `/` unless it is empty. */
  readonly #folder: string;
  readonly #prefix: string;
  readonly #acl: string;

  constructor(s3: S3, { url, acl, host, awaits }: S3StoreOptions) {
    const { bucket, folder } = s3Location(url)!;
    this.place = url;
    this.awaits = awaits ?? null;
    this.#s3 = s3;
    this.#bucket = bucket;
    this.#folder = folder === '' ? '' : `${folder}/`;
    this.#prefix = host === null ? '' : `${host}/`;
    this.#acl = acl;
  }

  /** Write an object, and look for one that does not exist: a missing right is reported now, not at the first file. */
  async open(): Promise<void> {
    const { client, commands } = this.#s3;
    const probe = { Bucket: this.#bucket, Key: `${this.#folder}${PROBE}` };
    try {
      await this.#put({ ...probe, ...this.#access(), Body: 'crawlnode' });
      await this.#head(`${PROBE}-${randomUUID()}`);
    } catch (error) {
      throw unwritable(this, saying(error));
    }
    // Without the right to delete, one small object stays.
    await client.send(new commands.DeleteObjectCommand(probe)).catch(() => {});
  }

  async find(names: readonly string[], maxAgeMs: number): Promise<StoredFile | null> {
    try {
      const wanted = names.length > 1 ? await this.#listed(names) : names;
      for (const name of wanted) {
        const found = await this.#head(name);
        if (found === null || Date.now() - found.modifiedAtMs > maxAgeMs) continue;
        return { path: this.#prefix + name, checksum: found.checksum };
      }
      return null;
    } catch (error) {
      throw unwritable(this, saying(error));
    }
  }

  async write(name: string, body: Buffer): Promise<StoredFile> {
    const digest = createHash('md5').update(body).digest();
    const checksum = digest.toString('hex');
    try {
      await this.#put({
        ...{ Bucket: this.#bucket, Key: this.#keyOf(name), Body: body, ContentLength: body.length },
        ...{ ContentMD5: digest.toString('base64'), ContentType: await mediaType(body) },
        ...{ Metadata: { md5: checksum }, ...this.#access() },
      });
    } catch (error) {
      throw unwritable(this, saying(error));
    }
    return { path: this.#prefix + name, checksum };
  }

  close(): void {
    this.#s3.client.destroy();
  }

  /** Any web server may answer a PUT with 200. Only a storage gives the ETag of the new object. */
  async #put(object: Readonly<Record<string, unknown>>): Promise<void> {
    const { client, commands } = this.#s3;
    const { ETag } = (await client.send(new commands.PutObjectCommand(object))) as { readonly ETag?: string };
    if (ETag === undefined) {
      throw new Error(
        'the answer to PUT has no ETag, so it is not from S3-compatible storage; check AWS_ENDPOINT_URL, and proxies in front of it',
      );
    }
  }

  /** The names that exist, by one request instead of one for each. */
  async #listed(names: readonly string[]): Promise<readonly string[]> {
    const { client, commands } = this.#s3;
    const keys = names.map((name) => this.#keyOf(name));
    const query = { Bucket: this.#bucket, Prefix: commonPrefix(keys) };
    const listing = (await client.send(new commands.ListObjectsV2Command(query))) as Listing;
    const { Contents = [], IsTruncated } = listing;
    if (IsTruncated === true) return names;
    const existing = new Set(Contents.map(({ Key }) => Key));
    return names.filter((_, at) => existing.has(keys[at]));
  }

  async #head(name: string): Promise<{ modifiedAtMs: number; checksum: string | null } | null> {
    const { client, commands } = this.#s3;
    const object = { Bucket: this.#bucket, Key: this.#keyOf(name) };
    try {
      const head = (await client.send(new commands.HeadObjectCommand(object))) as Head;
      const { ETag, LastModified, Metadata } = head;
      const checksums = [Metadata?.md5, ETag?.replaceAll('"', '')];
      const checksum = checksums.find((one) => one !== undefined && MD5_HEX.test(one)) ?? null;
      return { modifiedAtMs: LastModified?.getTime() ?? 0, checksum };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  #keyOf(name: string): string {
    return this.#folder + this.#prefix + name;
  }

  #access(): { readonly ACL?: string } {
    return this.#acl === DEFAULT_ACL ? {} : { ACL: this.#acl };
  }
}

/** What is read of the answer to a HEAD. */
interface Head {
  readonly ETag?: string;
  readonly LastModified?: Date;
  readonly Metadata?: Readonly<Record<string, string>>;
}

/** What is read of a listing. */
interface Listing {
  readonly Contents?: readonly { readonly Key?: string }[];
  readonly IsTruncated?: boolean;
}

function commonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
}

/**
 * What went wrong, in one line. The response to a HEAD has no body, so its status is used. The error itself is not stored:
 * it holds the connection.
 */
function saying(error: unknown): Error {
  const { name = 'Error' } = error as Error;
  const status = statusOf(error);
  const isUnreadable = /XML parse error|Deserialization error/.test(messageOf(error));
  const parts = [
    /^(?:Error|Unknown\w*|\d+)$/.test(name) ? '' : name,
    isUnreadable || /^Unknown/.test(messageOf(error)) ? '' : messageOf(error),
    status === undefined ? '' : `status ${status}`,
    status === 403
      ? 'check the credentials, and the rights s3:PutObject, s3:GetObject and s3:ListBucket'
      : '',
    status === 404 ? 'is the name of the bucket right?' : '',
    status === 301 || status === 307 ? 'is the bucket in the region AWS_REGION_NAME?' : '',
    isUnreadable
      ? 'the answer is not that of S3-compatible storage; check AWS_ENDPOINT_URL, and proxies in front of it'
      : '',
  ];
  return new Error(parts.filter((part) => part !== '').join('; ') || 'no answer');
}

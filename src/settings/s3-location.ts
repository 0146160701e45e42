/** URLs of buckets, as FILES_STORE and IMAGES_STORE name them. */

/** Bucket and folder of `s3://bucket/folder`; null for what is no such URL. The folder has no `/` around it, and no `..` in it. */
export function s3Location(url: string): { readonly bucket: string; readonly folder: string } | null {
  const [, bucket, rest = ''] = /^s3:\/\/([A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined || rest.length > 256) return null;
  const parts = rest.split('/').filter((part) => part !== '');
  if (parts.some((part) => /^\.{1,2}$|[\\\x00-\x1f\x7f?#]/.test(part))) return null;
  return { bucket, folder: parts.join('/') };
}

/** A crawl in a command to be typed. */

/** `shop`, or `shop --job may`. */
export function crawlArguments({
  spider,
  job,
}: {
  readonly spider: string;
  readonly job: string | null;
}): string {
  return job === null ? spider : `${spider} --job ${job}`;
}

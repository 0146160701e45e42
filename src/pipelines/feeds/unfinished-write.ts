/** Whether the bytes after the checkpoint of a feed file may be cut off. */

/**
 * Whether the end of a file is what a writer leaves that dies between its write and its checkpoint: the beginning of its
 * next items, perhaps followed by zeros, which a power cut leaves where data had not reached the disk.
 * @param tail the bytes after the checkpoint
 * @param next the items of the outbox for this place
 * @param closing what the format writes after the last item, at least in part
 */
export function isUnfinishedWrite(tail: Buffer, next: Buffer, closing: Buffer): boolean {
  let end = tail.length;
  while (end > 0 && tail[end - 1] === 0) end -= 1;
  let same = 0;
  while (same < end && same < next.length && tail[same] === next[same]) same += 1;
  // The closing may begin as the next item does.
  for (let at = same; at >= 0 && end - at <= closing.length; at -= 1) {
    if (isPartOf(closing, tail.subarray(at, end))) return true;
  }
  return false;
}

/** The new closing may be written in part, and the old one may be overwritten in part. */
function isPartOf(closing: Buffer, rest: Buffer): boolean {
  return (
    closing.subarray(0, rest.length).equals(rest) ||
    closing.subarray(closing.length - rest.length).equals(rest)
  );
}

/** Human-readable numbers, sizes and durations for messages and reports. */

/** A number with commas: `1,234,567`. */
export function n(value: number): string {
  return value.toLocaleString('en');
}

/** A count with its noun: `1 node`, `2 nodes`. */
export function howMany(count: number, noun: string): string {
  return `${n(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/** Bytes in powers of 1,000. */
export function byteSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** A duration in its largest unit: `12 s`, `3 min`, `5 h`, `2 d`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** The middle one of some figures, or the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Of each figure of some rows the median; what is no figure is as in the first of them. */
export function mediansOf(rows) {
  const figures = Object.entries(rows[0]).map(([name, value]) => [
    name,
    typeof value === 'number' ? median(rows.map((row) => row[name])) : value,
  ]);
  return Object.fromEntries(figures);
}

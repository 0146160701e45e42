/** Adds up the answers of several partitions. */

/** The names of the number fields of an answer. */
type NumberField<Answer> = {
  [Field in keyof Answer]-?: NonNullable<Answer[Field]> extends number ? Field : never;
}[keyof Answer];

/**
 * The sum of each number field over the answers of several partitions. Other fields are left out, as is a field that no
 * answer has.
 */
export function summed<Answer extends object>(answers: readonly Answer[]): Pick<Answer, NumberField<Answer>> {
  const sums = new Map<string, number>();
  for (const [name, value] of answers.flatMap((answer) => Object.entries(answer) as [string, unknown][])) {
    if (typeof value === 'number') sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return Object.fromEntries(sums) as Pick<Answer, NumberField<Answer>>;
}

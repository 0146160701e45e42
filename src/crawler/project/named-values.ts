/** Objects of named values that programs and spiders give, such as settings. A list, Map or Set looks like an object and has no names. */

export function isNamedValues(value: unknown): value is object {
  const isCollection = Array.isArray(value) || value instanceof Map || value instanceof Set;
  return typeof value === 'object' && value !== null && !isCollection;
}

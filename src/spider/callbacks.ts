/** Callbacks are methods of the spider, given by reference or by name and stored by name: any node can run them. */
import { InvalidRequestError } from '../errors.js';
import type { Callback } from '../http/message/request.js';
import { didYouMean } from '../settings/nearest.js';
import { Spider } from './spider.js';

/**
 * The name under which a callback is stored; null where none is given.
 * @throws InvalidRequestError when it is no method of the spider.
 */
export function callbackName(spider: Spider, callback: Callback | string | null): string | null {
  if (callback === null) return null;
  const methods = methodsOf(spider);
  if (typeof callback === 'string') {
    if (methods.names.has(callback)) return callback;
    throw new InvalidRequestError(
      `callback: the spider "${spider.name}" has no method ${JSON.stringify(callback)}${didYouMean(callback, methods.names)}`,
      { code: 'unknown_callback' },
    );
  }
  const name = methods.byReference.get(callback);
  if (name !== undefined) return name;
  throw new InvalidRequestError(
    `callback: ${callback.name ? `the function "${callback.name}"` : 'an anonymous function'} is no method of the spider "${spider.name}"; ` +
      'give a method itself (this.parsePage: no arrow function, no bind), as it is stored by name, and pass data in meta',
    { code: 'unknown_callback' },
  );
}

interface Methods {
  readonly names: ReadonlySet<string>;
  readonly byReference: ReadonlyMap<unknown, string>;
}

/** Per spider, not per class: a function in a field (`parsePage = async (response) => …`) is a callback too. */
const known = new WeakMap<Spider, Methods>();

function methodsOf(spider: Spider): Methods {
  let methods = known.get(spider);
  if (methods === undefined) {
    methods = findMethods(spider);
    known.set(spider, methods);
  }
  return methods;
}

/** Nearest definition first, so that an overridden method (`super.parse`) is not taken for the one that overrides it. */
function findMethods(spider: Spider): Methods {
  const seen = new Set<string>();
  const names = new Set<string>();
  const byReference = new Map<unknown, string>();
  for (let owner: object = spider; owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (seen.has(name)) continue;
      seen.add(name);
      if (typeof property.value !== 'function' || notCallbacks.has(name)) continue;
      names.add(name);
      if (!byReference.has(property.value)) byReference.set(property.value, name);
    }
  }
  return { names, byReference };
}

/** Functions a spider has without their being callbacks: the hooks, the constructor, a schema that is callable. */
const notCallbacks = new Set([
  ...Object.getOwnPropertyNames(Spider.prototype).filter((name) => name !== 'parse'),
  'fingerprint',
  'item',
]);

/** Map callbacks to method names. Requests store callbacks by name, so that any node can run them. */
import { InvalidRequestError } from '../errors.js';
import type { Callback, Errback } from '../http/message/request.js';
import { didYouMean } from '../settings/nearest.js';
import { Spider } from './spider.js';

/**
 * The name under which a callback is stored; null for no callback.
 * @throws InvalidRequestError when the callback is not a method of the spider.
 */
export function callbackName(spider: Spider, callback: Callback | Errback | string | null): string | null {
  if (callback === null) return null;
  const methods = methodsOf(spider);
  const given = typeof callback === 'string' ? callback : callback.name;
  if (notCallbacks.has(given) && (callback === given || callback === spider[given as keyof Spider])) {
    throw new InvalidRequestError(
      `callback: crawlnode calls ${given} itself, so it is no callback; give another method of the spider`,
      { code: 'unknown_callback' },
    );
  }
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
    `callback: ${callback.name ? `the function "${callback.name}"` : 'an anonymous function'} is not a method of the spider "${spider.name}"; ` +
      'give a method itself (this.parsePage: no arrow function, no bind), as it is stored by name, and pass data in meta',
    { code: 'unknown_callback' },
  );
}

/** Whether a spider has a method of this name that can be a callback. */
export function isMethodOf(spider: Spider, name: string): boolean {
  return methodsOf(spider).names.has(name);
}

interface Methods {
  readonly names: ReadonlySet<string>;
  readonly byReference: ReadonlyMap<unknown, string>;
}

/** Per instance, not per class: a function in a field (`parsePage = async (response) => …`) is a callback too. */
const methodsBySpider = new WeakMap<Spider, Methods>();

function methodsOf(spider: Spider): Methods {
  let methods = methodsBySpider.get(spider);
  if (methods === undefined) {
    methods = findMethods(spider);
    methodsBySpider.set(spider, methods);
  }
  return methods;
}

/** Walks the prototype chain from the instance upwards, so that an overriding method hides the one that it overrides. */
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

/** Functions of a spider that are not callbacks: the hooks, the constructor, and a schema that is a function. */
const notCallbacks = new Set([
  ...Object.getOwnPropertyNames(Spider.prototype).filter((name) => name !== 'parse'),
  'fingerprint',
  'item',
  'start',
  'idle',
]);

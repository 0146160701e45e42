/**
 * The arguments of a run (`-a name=value`). They decide what a spider crawls, so all nodes of a run have the same ones, and
 * start requests are pushed once for a job and arguments.
 */
import { createHash } from 'node:crypto';
import { RefusedError } from '../../errors.js';
import { sortedJson } from './tunable-text.js';

/** `-a name=value`, by name. */
export type RunArguments = Readonly<Record<string, string>>;

/** The text by which engines store and compare arguments: JSON in the order of names; empty for none. */
export function argumentsText(args: RunArguments): string {
  return Object.keys(args).length === 0 ? '' : sortedJson(args);
}

/** Names the start of a job under these arguments: 16 hex digits; empty without arguments. */
export function startKey(args: RunArguments): string {
  const text = argumentsText(args);
  return text === '' ? '' : createHash('sha1').update(text).digest('hex').slice(0, 16);
}

/** The refusal (exit 3) of a node with other arguments than its run. @param theirs as `argumentsText` gives them */
export function otherArguments(theirs: string, ours: RunArguments): RefusedError {
  const there = theirs === '' ? {} : (JSON.parse(theirs) as RunArguments);
  const names = [...new Set([...Object.keys(there), ...Object.keys(ours)])].sort();
  const differences = names
    .filter((name) => there[name] !== ours[name])
    .map((name) => `${name} is ${shown(name, there[name])} there and ${shown(name, ours[name])} here`);
  return new RefusedError(
    `this run was started with other arguments (-a): ${differences.join('; ')}. Give the same ones, wait until its nodes have left (killed ones count as dead after NODE_TIMEOUT), or crawl under another --job`,
    { code: 'arguments' },
  );
}

function shown(name: string, value: string | undefined): string {
  if (value === undefined) return 'not given';
  return /pass|secret|token|key|auth/i.test(name) ? '***' : JSON.stringify(value);
}

/** What has no effect on a spider: members whose names are nearly those that crawlnode reads, such as `alowedDomains`, and arguments that it does not read. */
import { didYouMean, nearest } from '../../settings/nearest.js';
import { Spider } from '../spider.js';
import { isSetByAuthor, lettersOf, membersOf, namesFor, scrapySettings } from './scrapy-members.js';

/** Members that authors give similar names for a purpose of their own: a field `items`, a method `parser`. */
const neverMeant = new Set(['item', 'parse', 'name', 'args', 'log', 'settings', 'stats', 'constructor']);
/** A shorter name with two other letters is probably another word. */
const LONG_LETTERS = 8;

/** The members that are methods. A plain spider has no value for some of them. */
const methods =
  /^(?:start|idle|opened|closed|fingerprint|makeRequestFromData|parse\w+|process\w+|adaptResponse|sitemapFilter)$/;

/**
 * A sentence for each member that is probably misspelt. It is only a hint, since an author may use any name. A member is not
 * meant where the spider has that member too, or where one is a method and the other is not.
 */
export function misspeltMembers(spider: Spider): string[] {
  return [...nearlyNamed(spider), ...methodsOfOtherKinds(spider)];
}

function nearlyNamed(spider: Spider): string[] {
  const names = namesFor(spider);
  const meant = [...names, ...scrapySettings].filter((name) => !neverMeant.has(name));
  const byLetters = new Map(meant.map((name) => [lettersOf(name), name]));
  byLetters.set('startrequests', 'start');
  return [...membersOf(spider)].flatMap(([name, owner]) => {
    const letters = lettersOf(name);
    if (name.startsWith('_') || names.has(name) || byLetters.has(letters)) return [];
    const [word = ''] = nearest(letters, byLetters.keys(), 1, letters.length < LONG_LETTERS ? 1 : 2);
    const near = byLetters.get(word);
    if (near === undefined || isSetByAuthor(spider, near)) return [];
    if ((typeof owner[name] === 'function') !== methods.test(near)) return [];
    return [`the spider ${spider.name} has ${name}, which has no effect; did you mean ${near}?`];
  });
}

/** Methods that only one kind of spider calls. */
const calledBy = {
  parseStartUrl: 'CrawlSpider',
  parseNode: 'XMLFeedSpider',
  parseRow: 'CSVFeedSpider',
} as const;

/** A spider of another kind may have a method of such a name as a callback. The text of its classes shows whether it does. */
function methodsOfOtherKinds(spider: Spider): string[] {
  const names = namesFor(spider);
  const members = membersOf(spider);
  return Object.entries(calledBy).flatMap(([name, kind]) => {
    if (names.has(name) || typeof members.get(name)?.[name] !== 'function') return [];
    if (textOfClasses(spider).some((text) => new RegExp(`[.'"\`]${name}\\b`).test(text))) return [];
    return [
      `the spider ${spider.name} has ${name}, which only a ${kind} calls: extend ${kind}, or name ${name} as the callback of a request`,
    ];
  });
}

/** The code of the class of a spider, and of those between it and `Spider`. */
function textOfClasses(spider: Spider): string[] {
  const texts: string[] = [];
  for (let Class = spider.constructor; Class !== Spider; Class = Object.getPrototypeOf(Class)) {
    texts.push(Function.prototype.toString.call(Class));
  }
  return texts;
}

/** How code reads an argument: `args.start`, `args['start']`, or `{ start } = this.args`. */
const read = /\bargs(?:\?\.|\.|(?:\?\.)?\[\s*['"`])([\w-]+)/g;
const destructured = /\{([^{}]*)\}\s*=\s*this\.args\b/g;

/**
 * A sentence for each argument that no class of the spider reads. None where a class uses `args` as a whole, since other code may read
 * them then.
 */
export function unreadArguments(spider: Spider): string[] {
  const text = textOfClasses(spider).join('\n');
  const names = new Set([
    ...[...text.matchAll(read)].map(([, name = '']) => name),
    ...[...text.matchAll(destructured)].flatMap(([, list = '']) => list.match(/[\w-]+/g) ?? []),
  ]);
  const rest = text.replace(destructured, '').replace(read, '');
  if (/\bargs\b/.test(rest)) return [];
  return Object.keys(spider.args)
    .filter((name) => !names.has(name))
    .map(
      (name) =>
        `the spider ${spider.name} does not read the argument ${name}${didYouMean(name, names) || `, as this.args.${name} would`}`,
    );
}

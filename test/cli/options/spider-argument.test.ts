/** How a command may name its crawl. */
import { Argument } from 'commander';
import { describe, expect, it } from 'vitest';
import { type CommandInput, spiderFirst } from '../../../src/cli/options/spider-argument.js';

const spider = new Argument('<spider>');
const action = new Argument('<action>').choices(['list', 'retry', 'purge']);
const url = new Argument('<url>');
const words = (declared: readonly Argument[], args: string[], options: CommandInput['options'] = {}) =>
  spiderFirst(declared, { args, options });

describe('the words of a command', () => {
  it('may name the job behind the spider', () => {
    expect(words([spider], ['shop@may'])).toEqual({ args: ['shop'], options: { job: 'may' } });
    expect(words([spider], ['shop'], { job: 'may' })).toEqual({ args: ['shop'], options: { job: 'may' } });
    expect(words([spider], ['shop@may'], { job: 'may' }).options).toEqual({ job: 'may' });
    expect(words([url], ['http://a/'], { spider: 'shop@may' }).options).toEqual({
      spider: 'shop',
      job: 'may',
    });
  });

  it('may not name two jobs, or none behind an @', () => {
    expect(() => words([spider], ['shop@may'], { job: 'june' })).toThrow(
      'shop@may and --job june name two jobs',
    );
    expect(() => words([spider], ['shop@'])).toThrow('shop@: the name of the job is missing');
  });

  it('may have the action before the spider, and a spider may be called like an action', () => {
    expect(words([spider, action], ['shop', 'list']).args).toEqual(['shop', 'list']);
    expect(words([spider, action], ['list', 'shop@may'])).toEqual({
      args: ['shop', 'list'],
      options: { job: 'may' },
    });
    expect(words([spider, action], ['retry', 'list']).args).toEqual(['retry', 'list']);
    expect(() => words([spider, action], ['shop', 'drop'])).toThrow(
      '"drop" is not an action; the actions are list, retry, purge',
    );
  });

  it('may have the URL before the spider; an @ in a URL is no job', () => {
    const page = 'https://user@example.com/';
    expect(words([spider, url], ['shop', page]).args).toEqual(['shop', page]);
    expect(words([spider, url], [page, 'shop']).args).toEqual(['shop', page]);
    expect(words([spider, url], ['{"url":"http://a/"}', 'shop']).args[0]).toBe('shop');
    expect(words([spider, url], [page])).toEqual({ args: [page], options: {} });
  });

  it('stay as they are in a command that names no crawl', () => {
    expect(words([new Argument('<dir>')], ['a@b'])).toEqual({ args: ['a@b'], options: {} });
  });
});

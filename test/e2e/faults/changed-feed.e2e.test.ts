/** A feed file that somebody changes while a real process writes it: exit 1, what is gone is said, and the rest waits. */
import { appendFileSync, readdirSync, renameSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli, startCli } from '../../helpers/cli.js';
import { onEachEngine, projectOn } from '../../helpers/engine-project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';
import { walk } from '../../helpers/walk.js';

onEachEngine('a feed file on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 8 },
    files: { 'spiders/walk.ts': walk() },
  });
  let site: Site;
  /** Slow until then: the crawl is not over before the change, and is seldom in the middle of a write. */
  let isChanged = false;
  beforeEach(async () => {
    isChanged = false;
    site = await startSite({ pages: 300, delayMs: () => (isChanged ? 5 : 150) });
  });
  afterEach(() => site.close());
  const run = (...args: string[]) =>
    startCli(['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done', ...args], {
      cwd: here.project.dir,
    });
  const crawl = (...args: string[]) => run('-o', 'feed.jsonl', ...args);
  const file = () => here.project.path('feed.jsonl');
  const lines = async (name = 'feed.jsonl') => {
    if (!here.project.exists(name)) return 0;
    const text = await here.project.read(name);
    return text.split('\n').filter((line) => line.startsWith('{"url"')).length;
  };
  const waiting = async () =>
    (await here.look((frontier) => frontier.snapshot(), 'walk')).outbox.reduce(
      (sum, feed) => sum + feed.waiting,
      0,
    );

  it.each([
    [
      'cut to nothing',
      () => writeFileSync(file(), ''),
      /was cut to 0 bytes .*gone are bytes 0 to [\d,]+, with items 1 to [\d,]+/,
    ],
    [
      'cut in its middle',
      () => truncateSync(file(), 100),
      /was cut to 100 bytes .*gone are bytes 100 to [\d,]+, with items \d to [\d,]+/,
    ],
    [
      'renamed',
      () => renameSync(file(), here.project.path('moved.jsonl')),
      /was removed or renamed .*is in the renamed file/,
    ],
    ['removed', () => unlinkSync(file()), /was removed or renamed .*gone are bytes 0 to/],
    [
      'overwritten',
      () => writeFileSync(file(), 'x'.repeat(100_000)),
      /was (overwritten|cut to 0 bytes) .*gone are bytes 0 to/,
    ],
    [
      'added to',
      () => appendFileSync(file(), '{"mine":1}\n'),
      /was written to by somebody else .*writes the items that wait/,
    ],
  ])('that is %s is exit 1', async (_how, change, says) => {
    for (const workers of ['1', '2']) {
      isChanged = false;
      const node = crawl('--workers', workers, '--job', `of-${workers}`);
      await waitFor(async () => (await lines()) > 20, { what: 'some items' });
      change();
      isChanged = true;
      const { code, stderr } = await node.wait();
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(says) });
      expect(stderr).not.toMatch(/^\s+at /m);
      for (const name of ['feed.jsonl', 'moved.jsonl']) {
        if (!here.project.exists(name)) continue;
        expect((await here.project.read(name)).includes('\0')).toBe(false);
        unlinkSync(here.project.path(name));
      }
    }
  });

  it('that is cut at any moment is never a green end with items missing, nor has a hole', async () => {
    for (let turn = 1; turn <= 6; turn += 1) {
      const node = crawl('--job', `run-${turn}`);
      const at = turn * 40;
      await waitFor(async () => (await lines()) >= at, { what: 'some items' });
      writeFileSync(file(), '');
      const { code, stderr } = await node.wait();
      const text = await here.project.read('feed.jsonl');
      expect({ turn, code, hasHole: text.includes('\0') }).toEqual({ turn, code: 1, hasHole: false });
      expect(stderr).toMatch(/with items 1 to [\d,]+ of this crawl/);
      unlinkSync(file());
    }
  });

  it('that is put back gets what waits: nothing is missing then', async () => {
    const node = crawl();
    await waitFor(async () => (await lines()) > 50, { what: 'some items' });
    renameSync(file(), here.project.path('moved.jsonl'));
    expect(await node.wait()).toMatchObject({ code: 1 });
    expect((await lines('moved.jsonl')) + (await waiting())).toBeGreaterThan(50);
    renameSync(here.project.path('moved.jsonl'), file());
    expect(await crawl().wait()).toMatchObject({ code: 0 });
    expect(await lines()).toBe(300);
  });

  const brief = ['-s', 'NODE_TIMEOUT=5', '-s', 'HEARTBEAT_INTERVAL=1'];
  const other = () => run('-o', 'other.jsonl', ...brief).wait();
  const command = (...args: string[]) => runCli(args, { cwd: here.project.dir });
  const urls = async (...names: string[]) => {
    const texts = await Promise.all(names.map((name) => here.project.read(name)));
    const found = texts.join('').matchAll(/^\{"url":"([^"]+)"/gm);
    return [...found].map(([, url]) => url);
  };

  it.each([
    ['removed', () => unlinkSync(file()), /feed\.jsonl is gone/],
    ['cut', () => truncateSync(file(), 100), /feed\.jsonl holds 100 bytes, but this job has written/],
    ['added to', () => appendFileSync(file(), '{"mine":1}\n'), /feed\.jsonl goes on for \d+ bytes/],
  ])(
    'whose writer was killed and that is %s is exit 1 in every run, until somebody accepts it; then all that waits is written',
    async (how, change, says) => {
      const node = crawl(...brief);
      await waitFor(async () => (await lines()) > 20, { what: 'some items' });
      node.kill('SIGKILL');
      await node.wait();
      change();
      isChanged = true;
      const told = { code: 1, stdout: expect.stringMatching(says) };
      expect(await command('doctor', 'walk')).toMatchObject(told);
      for (const _ of [1, 2]) {
        const { code, stderr } = await other();
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(says) });
      }
      expect(await command('doctor', 'walk')).toMatchObject(told);
      expect(await command('stats', 'walk')).toMatchObject({ stdout: expect.stringContaining('the file') });
      const left = here.project.exists('feed.jsonl') ? await lines() : 0;
      const waits = await waiting();

      expect(await command('doctor', 'walk', '--accept-losses')).toMatchObject({
        stdout: expect.stringMatching(/accepted: .*feed\.jsonl/),
      });
      expect(await command('items', 'walk', 'export')).toMatchObject({ code: 0 });
      expect(await command('doctor', 'walk')).toMatchObject({ code: 0 });
      expect(await other()).toMatchObject({ code: 0 });
      expect(await waiting()).toBe(0);
      // What was left of a file that ends within a line is beside it.
      const names = readdirSync(here.project.dir).filter((name) => name.startsWith('feed.jsonl'));
      const all = await urls('other.jsonl', ...names);
      const others = await urls('other.jsonl');
      // Items that the killed writer wrote behind its last checkpoint both wait and are left, so there they are not added up.
      if (how === 'added to') expect(all).toHaveLength(300);
      else expect(all.length - others.length).toBeGreaterThanOrEqual(waits + left - 1);
      expect(new Set(all).size).toBe(all.length);
    },
  );

  it('whose writer was killed and that is cut is exit 1 in each of two nodes that end at the same time', async () => {
    const node = crawl(...brief);
    await waitFor(async () => (await lines()) > 20, { what: 'some items' });
    node.kill('SIGKILL');
    await node.wait();
    truncateSync(file(), 100);
    isChanged = true;
    for (const turn of [1, 2, 3, 4]) {
      const beside = ['a.jsonl', 'b.jsonl'].map((name) => run('-o', name, ...brief).wait());
      const codes = (await Promise.all(beside)).map(({ code }) => code);
      expect({ turn, codes }).toEqual({ turn, codes: [1, 1] });
    }
  });

  it('that was removed is exit 1 from every machine, and with every file, and what waits is written once it is accepted', async () => {
    const node = crawl(...brief);
    await waitFor(async () => (await lines()) > 20, { what: 'some items' });
    unlinkSync(file());
    isChanged = true;
    expect(await node.wait()).toMatchObject({ code: 1 });
    // Who has no record of the file sees it only in the store, as another machine does.
    const elsewhere = { XDG_STATE_HOME: here.project.path('elsewhere') };
    const far = await runCli(
      ['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done', '-o', 'far.jsonl', ...brief],
      { cwd: here.project.dir, env: elsewhere },
    );
    expect(far).toMatchObject({ code: 1, stderr: expect.stringContaining('feed.jsonl') });
    expect(await other()).toMatchObject({ code: 1, stderr: expect.stringMatching(/feed\.jsonl is gone/) });
    await command('doctor', 'walk', '--accept-losses');
    expect(await crawl(...brief).wait()).toMatchObject({ code: 0 });
    expect(await waiting()).toBe(0);
    expect(await command('doctor', 'walk')).toMatchObject({ code: 0 });
  });

  it('whose node left in the middle of the crawl is part of it until its run ends', async () => {
    // The domain has room for both: with less, the first that comes may take all of it.
    const both = [...brief, '-s', 'CONCURRENT_REQUESTS_PER_DOMAIN=16'];
    const node = crawl(...both);
    const second = run('-o', 'other.jsonl', ...both);
    await waitFor(async () => (await lines()) > 10, { what: 'some items' });
    node.kill('SIGTERM');
    expect(await node.wait()).toMatchObject({ code: 0 });
    unlinkSync(file());
    isChanged = true;
    const { code, stderr } = await second.wait();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/feed\.jsonl is gone/) });
    expect(await other()).toMatchObject({ code: 1 });
  });

  it('of a finished crawl may be taken away', async () => {
    isChanged = true;
    expect(await crawl().wait()).toMatchObject({ code: 0 });
    unlinkSync(file());
    expect(await other()).toMatchObject({ code: 0 });
    expect(await command('doctor', 'walk')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/info .*a file of an ended run: .*feed\.jsonl is gone/),
    });
  });

  it('whose writer was killed and that is removed is begun anew under -O, which ends the loss', async () => {
    const node = crawl(...brief);
    await waitFor(async () => (await lines()) > 20, { what: 'some items' });
    node.kill('SIGKILL');
    await node.wait();
    unlinkSync(file());
    isChanged = true;
    expect(await other()).toMatchObject({ code: 1 });
    expect(await run('-O', 'feed.jsonl', ...brief).wait()).toMatchObject({ code: 0 });
    expect(await other()).toMatchObject({ code: 0 });
  });
});

/** The test helpers themselves: a tool that lies makes every other test worthless. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { descendants, expectNothingLeft } from './helpers/leftovers.js';
import { createProject } from './helpers/project.js';
import { startRedis } from './helpers/redis/redis-server.js';
import { linkedPages, pagePath, startSite } from './helpers/sites/site.js';
import { waitFor } from './helpers/wait-for.js';

describe('startRedis', () => {
  it('starts a real server that answers, and stops it without a trace', async () => {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    try {
      expect(await client.ping()).toBe('PONG');
      expect(descendants(process.pid).map((child) => child.pid)).toContain(redis.pid());
    } finally {
      client.disconnect();
      await redis.stop();
    }
    expect(existsSync(redis.dir)).toBe(false);
    expect(descendants(process.pid).map((child) => child.pid)).not.toContain(redis.pid());
  });

  it('asks for the password it was given', async () => {
    const redis = await startRedis({ password: 'p@ss word' });
    const client = new Redis(redis.url);
    const stranger = new Redis(redis.port, redis.host, { lazyConnect: true });
    stranger.on('error', () => {}); // the refusal, which the command reports as well
    try {
      expect(await client.ping()).toBe('PONG');
      await expect(stranger.get('x')).rejects.toThrow('NOAUTH');
    } finally {
      client.disconnect();
      stranger.disconnect();
      await redis.stop();
    }
  });

  it('keeps its data over a kill when asked to persist, and loses it otherwise', async () => {
    for (const persist of [true, false]) {
      const redis = await startRedis({ persist });
      try {
        const before = new Redis(redis.url);
        await before.set('key', 'value');
        before.disconnect();
        await redis.kill();
        await redis.restart();
        const after = new Redis(redis.url);
        expect(await after.get('key')).toBe(persist ? 'value' : null);
        after.disconnect();
      } finally {
        await redis.stop();
      }
    }
  });

  it('says what the server said when it does not come up', async () => {
    await expect(startRedis({ args: ['--no-such-option', 'x'] })).rejects.toThrow(/no-such-option/);
  });
});

describe('startSite', () => {
  it('reaches every page from the first one by its links', () => {
    const seen = new Set([0]);
    for (const page of seen) for (const target of linkedPages(page, 50)) seen.add(target);
    expect(seen.size).toBe(50);
  });

  it('logs what it answered, and finds what was missed and what was fetched twice', async () => {
    const site = await startSite({ pages: 4 });
    try {
      for (const path of ['/', pagePath(1), pagePath(1), pagePath(3), '/nowhere']) {
        await (await fetch(site.origin + path)).text();
      }
      await waitFor(() => site.log.length === 5);
      expect(site.compare()).toEqual({ missing: [pagePath(2)], twice: [pagePath(1)] });
      expect(site.log.at(-1)).toMatchObject({ method: 'GET', path: '/nowhere', status: 404 });
    } finally {
      await site.close();
    }
  });

  it('fails a page as often as asked, then serves it', async () => {
    const site = await startSite({ pages: 2, failing: { '/': 2 }, failStatus: 500 });
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 3; n += 1) statuses.push((await fetch(site.url)).status);
      expect(statuses).toEqual([500, 500, 200]);
    } finally {
      await site.close();
    }
  });
});

describe('createProject', () => {
  it('writes settings and spiders, reads JSON lines, and goes away', async () => {
    const project = await createProject({
      settings: { CONCURRENT_REQUESTS: 4 },
      files: { 'spiders/one.ts': 'export default 1;\n', 'items.jsonl': '{"a":1}\n{"a":2}\n' },
    });
    expect(await project.read('crawlnode.yaml')).toBe('CONCURRENT_REQUESTS: 4\n');
    expect(project.exists('spiders/one.ts')).toBe(true);
    expect(await project.readJsonLines('items.jsonl')).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await project.readJsonLines('none.jsonl')).toEqual([]);
    await project.remove();
    expect(existsSync(project.dir)).toBe(false);
  });
});

describe('waitFor', () => {
  it('returns the first answer that counts, and takes an exception for "not yet"', async () => {
    let asked = 0;
    const answer = await waitFor(() => {
      asked += 1;
      if (asked === 1) throw new Error('not yet');
      return asked === 2 ? null : 'here';
    });
    expect(answer).toBe('here');
    expect(asked).toBe(3);
  });

  it('names what it waited for when that never comes', async () => {
    await expect(waitFor(() => false, { timeoutMs: 30, what: 'the moon' })).rejects.toThrow('the moon');
  });
});

describe('expectNothingLeft', () => {
  it('finds a child process', async () => {
    const child = spawn('sleep', ['60']);
    try {
      await expect(expectNothingLeft(50)).rejects.toThrow(/process \d+: sleep 60/);
    } finally {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await expectNothingLeft();
  });

  it('finds a listening socket', async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await expect(expectNothingLeft(50)).rejects.toThrow('a listening socket');
    } finally {
      server.close();
      await once(server, 'close');
    }
    await expectNothingLeft();
  });

  it('finds a temporary folder', async () => {
    const project = await createProject();
    await expect(expectNothingLeft(50)).rejects.toThrow(project.dir);
    await project.remove();
  });
});

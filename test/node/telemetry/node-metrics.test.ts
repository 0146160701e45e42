/** The metrics of a node, served by its heartbeat thread. */
import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../../src/errors.js';
import type { Yielded } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { Measures } from '../../../src/node/telemetry/measures.js';
import { serveMetrics } from '../../../src/node/telemetry/metrics-server.js';
import { Spider } from '../../../src/spider/spider.js';
import { freshStore, startNode } from '../../helpers/node.js';
import { promtool, withPrometheus } from '../../helpers/prometheus/promtool.js';
import { ask, freePort, sumOf } from '../../helpers/prometheus/scrape.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

class Walk extends Spider {
  override *parse(response: Response): Generator<Yielded | object> {
    yield { url: response.url };
    yield* response.followAll(response.links());
  }
}

async function crawlWithMetrics(failing: Readonly<Record<string, number>> = {}) {
  const site = await startSite({ pages: 9, failing });
  const port = await freePort();
  const node = await startNode(
    await freshStore(),
    class extends Walk {
      override startUrls = [site.url, `${site.origin}/gone`, `${site.origin}/bad`];
    },
    {
      measures: new Measures(),
      options: { exitWhenDone: false, metrics: { host: '127.0.0.1', port, crawl: 'walk@may' } },
    },
  );
  const settled = async () => {
    const { done, failed, pending, delayed, leased } = await node.frontier.snapshot();
    return pending + delayed + leased === 0 ? done + failed : 0;
  };
  let text = '';
  await waitFor(async () => {
    text = (await ask(port, '/metrics')).text;
    const ended = await settled();
    return ended > 0 && sumOf(text, 'crawlnode_pages_total') === ended;
  });
  return { node, port, text };
}

describe('the metrics of a node', () => {
  it('add up to what the store counts', { timeout: 60_000 }, async () => {
    const { node, text } = await crawlWithMetrics({ '/bad': Number.POSITIVE_INFINITY });
    const { done, failed, items, counters } = await node.frontier.snapshot();
    const sums = (name: string, label?: string) => sumOf(text, `crawlnode_${name}`, label);
    expect(failed).toBe(1);
    expect(sums('pages_total')).toBe(done + failed);
    expect(sums('items_total')).toBe(items);
    expect(sums('failures_total', 'reason="http_status"')).toBe(1);
    expect(sums('retries_total')).toBe(counters['retry/count']);
    expect(sums('response_bytes_total')).toBe(counters['downloader/response_bytes']);
    for (const status of [200, 404, 503])
      expect([status, sums('responses_total', `status="${status}"`)]).toEqual([
        status,
        counters[`downloader/response_status_count/${status}`],
      ]);
    expect(sums('download_seconds_count')).toBe(counters['downloader/request_count']);
    expect(sums('callback_seconds_count')).toBe(items);
    expect(sums('store_call_seconds_count', 'verb="settle"')).toBe(done + failed + 2);
    expect(sums('slots')).toBe(16);
    expect(sums('build_info', 'version="')).toBe(1);
    expect(sumOf(text, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(sumOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  it('have no label but the name of the crawl and what is told apart, and no URL', async () => {
    const { text } = await crawlWithMetrics();
    const labels = new Set([...text.matchAll(/[{,](\w+)=/g)].map(([, name]) => name));
    expect([...labels].sort()).toEqual(
      ['crawl', 'le', 'reason', 'status', 'verb', 'version'].filter((name) => labels.has(name)),
    );
    expect(text).toContain('crawlnode_slots{crawl="walk@may"} 16');
    expect(text).not.toMatch(/https?:|127\.0\.0\.1/);
  });

  withPrometheus('pass promtool check metrics', async () => {
    const { text } = await crawlWithMetrics({ '/bad': Number.POSITIVE_INFINITY });
    expect(promtool(['check', 'metrics'], text)).toBe('');
  });

  it('are refused where no port of 32 is free', { timeout: 60_000 }, async () => {
    const port = Math.min(await freePort(), 65_535 - 32);
    const servers = Array.from({ length: 32 }, (_, n) => net.createServer().listen(port + n, '127.0.0.1'));
    // Where somebody else has one of them, it is taken all the same.
    await Promise.all(
      servers.map((server) =>
        Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => {}),
      ),
    );
    const metrics = { host: '127.0.0.1', port, crawl: 'walk' };
    const node = await startNode(await freshStore(), Walk, { options: { metrics } });
    await expect(node.result).rejects.toThrow(RefusedError);
    await expect(node.result).rejects.toThrow(`the ports ${port} to ${port + 31} of 127.0.0.1 are all taken`);
    for (const server of servers) server.close();
  });
});

describe('the server of metrics', () => {
  const told = { metrics: async () => 'm 1\n', isLive: () => true, isReady: () => false };

  it('takes the next port where its own is taken', async () => {
    const port = await freePort();
    const [one, two] = [
      await serveMetrics({ host: '127.0.0.1', port }, told),
      await serveMetrics({ host: '127.0.0.1', port }, told),
    ];
    expect(one.port).toBe(port);
    expect(two.port).toBeGreaterThan(port);
    expect(await ask(two.port, '/metrics')).toEqual({ status: 200, text: 'm 1\n' });
    one.close();
    two.close();
  });

  it('refuses an address that this machine does not have', async () => {
    const wrong = serveMetrics({ host: '192.0.2.1', port: await freePort() }, told);
    await expect(wrong).rejects.toThrow(/^METRICS_HOST 192\.0\.2\.1, METRICS_PORT \d+: /);
  });

  it('answers on loopback only to who names this machine', async () => {
    const { port, close } = await serveMetrics({ host: '127.0.0.1', port: await freePort() }, told);
    const statusFor = async (host: string) => (await ask(port, '/metrics', { host })).status;
    for (const host of ['127.0.0.1', `localhost:${port}`, '[::1]:9', '10.0.0.7:9'])
      expect(await statusFor(host)).toBe(200);
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example'])
      expect(await statusFor(host)).toBe(403);
    close();
  });

  it('is as careful there where it serves all addresses', async () => {
    const { port, close } = await serveMetrics({ host: '0.0.0.0', port: await freePort() }, told);
    expect((await ask(port, '/metrics', { host: 'evil.example' })).status).toBe(403);
    close();
  });

  it('has three paths, to read', async () => {
    const { port, close } = await serveMetrics({ host: '127.0.0.1', port: await freePort() }, told);
    const statuses = await Promise.all([
      ...['/metrics?x=1', '/healthz', '/readyz', '/', '/metrics/..'].map((path) => ask(port, path)),
      ask(port, '/metrics', { method: 'POST' }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 503, 404, 404, 405]);
    close();
  });
});

/** Telemetry in Redis: reports and points are verbs; what is stored as text is read as it is. */
import { pointText, readEvents, readHistory } from '../../telemetry/stored-telemetry.js';
import { limitedBytes } from '../../types/reports.js';
import type { CrawlFacts, InspectedDomain, KnownDomain, Telemetry } from '../../types/telemetry.js';
import type { Client } from '../connection/client.js';
import { int, json } from '../connection/reply.js';
import { partBytes } from '../crawl/snapshot.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import { settingOfTunable } from '../nodes/join.js';
import { domainName } from '../request-columns.js';

export function redisTelemetry({ call, connection, options }: CrawlAccess): Telemetry {
  const key = internalKey(options.keys, 'telemetry');
  const read = (names: readonly string[]) => connection.patiently((client) => client.hmget(key, ...names));
  const bytesNow = async (client: Client) => limitedBytes(await partBytes(client, options.keys));
  return {
    async report(incarnation, { sequence, node, domains, events }) {
      const reply = await call('report', {
        ...{ incarnation, sequence, node: JSON.stringify(node) },
        domains: domains.flatMap(([domain, counts]) => [domainName(domain), counts]),
        events: events.flatMap(({ kind, agoMs }) => [kind, agoMs]),
      });
      return int(reply) === 1;
    },
    async facts() {
      const reply = await call('facts', {});
      if (reply == null) return null;
      const facts = json<CrawlFacts>(reply);
      const { ready, busy, nodes, memoryLimit } = facts;
      const isMeasured = memoryLimit > 0;
      return {
        ...facts,
        storedBytes: isMeasured ? await connection.patiently(bytesNow) : 0,
        ...{ ready: Object.values(ready), busy: Object.values(busy), nodes: Object.values(nodes) },
      };
    },
    async record(point, assessment, minutes, storedBytes = 0) {
      const texts = { point: pointText(point), assessment: JSON.stringify(assessment) };
      await call('record', { ...texts, minutes, storedBytes });
    },
    history: (step, fromMs, toMs) => readHistory(read, step, fromMs, toMs),
    async events(after) {
      const events = await readEvents(read, after);
      return events.map((event) =>
        event.kind === 'settings_changed'
          ? { ...event, settings: event.settings.map(settingOfTunable) }
          : event,
      );
    },
    async domains(from, most) {
      const reply = await call('known_domains', { from, most });
      return reply == null ? [] : Object.values(json<KnownDomain[]>(reply));
    },
    async domain(name) {
      const reply = await call('inspect_domain', { name: domainName(name) });
      if (reply == null) return null;
      const domain = json<InspectedDomain>(reply);
      return { ...domain, robots: Object.values(domain.robots) };
    },
  };
}

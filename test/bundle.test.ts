/** What spiders import as `crawlnode` from the executable, which is one script, against the modules it was made of. */
import { symlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as api from '../src/index.js';
import { runCli } from './helpers/cli.js';
import { createProject } from './helpers/project.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const namesOf = (module: object) =>
  Object.entries(module)
    .map(([name, value]: [string, { name: string }]) => `${name} ${value.name}`)
    .sort();

describe('what spiders import from the executable', () => {
  it('is all that index.ts exports, under the names that users see in what they log', async () => {
    const spider = `
import * as api from 'crawlnode';
console.error(JSON.stringify((${namesOf})(api)));
export default class Probe extends api.Spider { name = 'probe'; }
`;
    const project = await createProject({ files: { 'spiders/probe.ts': spider } });
    const { stderr } = await runCli(['list'], { cwd: project.dir });
    expect(JSON.parse(stderr)).toEqual(namesOf(api));
  });

  it('is what CommonJS requires of the package too: a spider, and a package that it uses', async () => {
    const project = await createProject({
      files: {
        'package.json': '{ "type": "commonjs" }',
        'spiders/probe.js': `
const { Request, Spider } = require('crawlnode');
console.error(require('helper').make() instanceof Request);
module.exports = class Probe extends Spider { name = 'probe'; };
`,
        'node_modules/helper/index.js': `
const { Request } = require('crawlnode');
exports.make = () => new Request('http://127.0.0.1/');
`,
      },
    });
    await symlink(root, project.path('node_modules', 'crawlnode'));
    const listed = await runCli(['list'], { cwd: project.dir });
    expect(listed).toMatchObject({ code: 0, stdout: 'probe\n', stderr: 'true\n' });
  });
});

/** What spiders import as `crawlnode` from the executable, which is one script, against the modules it was made of. */
import { expect, it } from 'vitest';
import * as api from '../src/index.js';
import { runCli } from './helpers/cli.js';
import { createProject } from './helpers/project.js';

const namesOf = (module: object) =>
  Object.entries(module)
    .map(([name, value]: [string, { name: string }]) => `${name} ${value.name}`)
    .sort();

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

/** The examples of the guide that build items: by processors, and checked by a schema. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { createProject } from '../helpers/project.js';
import { startSite } from '../helpers/sites/site.js';
import { pages, root } from './pages.js';

const guide = pages.find(({ file }) => file === 'docs/guide/rules-feeds-and-items.md')!;
const blockWith = (text: string) => guide.blocks.find((block) => block.text.includes(text))!.text;

const page = `<h1>
  A   lamp </h1><span class="price">from $1,234.50</span><span class="tag"> new </span><span class="tag">red</span>
  <img src="/lamp.jpg"><p class="description">two words</p>`;

it('items by processors, with a default value', async () => {
  const { project, site } = await projectWith('shop', blockWith('yield loadItem(response, {'));
  expect(await crawl(project, 'shop', `${site.origin}/lamp`)).toMatchObject({ code: 0 });
  expect(await project.readJsonLines('out.jsonl')).toEqual([
    {
      ...{ url: `${site.origin}/lamp`, title: 'A lamp', price: 1234.5, tags: ['new', 'red'] },
      ...{ image: `${site.origin}/lamp.jpg`, stock: 0, words: 2 },
    },
  ]);
});

it('an item that breaks its schema is reported with field, value and page', async () => {
  const { project, site } = await projectWith('prices', blockWith('item = z.object({ url'));
  expect(await crawl(project, 'prices', `${site.origin}/lamp`)).toMatchObject({ code: 1 });
  const failed = await runHere(['failed', 'prices', 'list', '--json'], { cwd: project.dir });
  const { reason, detail } = JSON.parse(failed.stdout.trim());
  expect(reason).toBe('invalid_item');
  expect(detail).toContain(`${site.origin}/lamp`);
  expect(detail).toContain('price');
  expect(detail).toContain('from $1,234.50');
});

async function projectWith(name: string, spider: string) {
  const site = await startSite({
    handler: (_, response) => {
      response.setHeader('content-type', 'text/html').end(page);
      return true;
    },
  });
  const project = await createProject({
    settings: { ALLOW_PRIVATE_ADDRESSES: true },
    files: { [`spiders/${name}.ts`]: spider },
  });
  symlinkSync(path.join(root, 'node_modules'), project.path('node_modules'));
  return { project, site };
}

async function crawl(project: Awaited<ReturnType<typeof createProject>>, name: string, url: string) {
  expect(await runHere(['seed', name, url], { cwd: project.dir })).toMatchObject({ code: 0 });
  return runHere(['crawl', name, '--exit-when-done', '-O', 'out.jsonl'], { cwd: project.dir });
}

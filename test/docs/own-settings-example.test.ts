/** The example of the guide on settings of one's own crawls, with the settings it shows. */
import { expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { createProject } from '../helpers/project.js';
import { startSite } from '../helpers/sites/site.js';
import { pages } from './pages.js';

const guide = pages.find(({ file }) => file === 'docs/guide/own-settings.md')!;
const blockWith = (text: string) => guide.blocks.find((block) => block.text.includes(text))!.text;

it('a crawl with a token from the environment, a list from the file and a price from the command line', async () => {
  const tokens: unknown[] = [];
  const site = await startSite({
    handler: ({ headers, url }, response) => {
      tokens.push(headers['x-token']);
      const product = (price: number) =>
        `<li class=product><a>${url} ${price}</a><b class=price>${price}</b>`;
      response.setHeader('content-type', 'text/html').end(product(4) + product(8) + product(12));
      return true;
    },
  });
  const project = await createProject({
    settings: blockWith('SETTINGS_SCHEMA: ./settings.ts'),
    files: { 'settings.ts': blockWith('// settings.ts'), 'spiders/shop.ts': blockWith('// spiders/shop.ts') },
  });
  const env = { SHOP_SITE: site.origin, SHOP_TOKEN: 't0ken' };
  const args = ['crawl', 'shop', '-s', 'SHOP_MIN_PRICE=9.5', '-o', 'shop.jsonl', '--exit-when-done'];
  expect(await runHere(args, { cwd: project.dir, env })).toMatchObject({ code: 0 });
  const items = await project.readJsonLines<{ name: string }>('shop.jsonl');
  expect(items.map(({ name }) => name).sort()).toEqual(['/books 12', '/music 12']);
  expect(tokens).toEqual(['t0ken', 't0ken']);
  const bad = await runHere(['settings', '-s', 'SHOP_MIN_PRICE=-1'], { cwd: project.dir, env });
  expect(bad.stderr).toContain(
    blockWith('does not accept').replace('crawlnode.yaml:5:1', 'the command line').trim(),
  );
});

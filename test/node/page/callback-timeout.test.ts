/** CALLBACK_TIMEOUT: a callback or pipeline that is never over costs its page, and the crawl ends. */
import { expect, it } from 'vitest';
import { crawlLines, createProject } from '../../helpers/cli/crawled-project.js';
import { startSite } from '../../helpers/sites/site.js';

it.each([
  ['callback', 'callback_timeout', 'await never', ''],
  ['pipeline', 'pipeline_error', '', 'return never'],
])('a %s that is never over fails its page, and no other', async (_, reason, inCallback, inPipeline) => {
  const site = await startSite({ pages: 3, extraLinks: 0 });
  const never = 'const never = new Promise(() => {});';
  const project = await createProject({
    settings: {
      ITEM_PIPELINES: { './pipelines/check.js': 100 },
      ALLOW_PRIVATE_ADDRESSES: true,
      CALLBACK_TIMEOUT: 0.2,
    },
    files: {
      'spiders/waiting.js': `import { Spider } from 'crawlnode';
        ${never}
        export default class extends Spider {
          name = 'waiting';
          startUrls = ['${site.url}'];
          async *parse(response) {
            yield { url: response.url };
            yield* response.followAll('ul a', this.parse);
            if (response.url.endsWith('1.html')) { ${inCallback} }
          }
        }`,
      'pipelines/check.js': `${never}
        export default ({ item }) => { if (item.url.endsWith('1.html')) { ${inPipeline} } };`,
    },
  });
  const { summary, run } = await crawlLines(project, 'waiting');
  expect(summary).toMatchObject({ pages: 3, items: 2, failed: 1 });
  const { stdout } = await run('failed', 'waiting', 'list', '--reason', reason, '--json');
  expect(stdout).toMatch(/1\.html.*it was not over after 0\.2 s \(CALLBACK_TIMEOUT\)/);
});

/** A crawl of a site by the spider `titles` of the bench, in a project of its own. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** @returns the project's folder and what node is started with; `settings` says the engine, and what a bench wants. */
export async function titlesCrawl(dir, site, settings) {
  const project = await mkdtemp(path.join(dir, 'project-'));
  const all = {
    SPIDER_MODULES: [here('../spiders')],
    CONCURRENT_REQUESTS: 16,
    CONCURRENT_REQUESTS_PER_DOMAIN: 16,
    // The bare loop asks for no robots.txt either.
    ROBOTSTXT_OBEY: false,
    LOG_LEVEL: 'WARNING',
    ...settings,
  };
  await writeFile(path.join(project, 'crawlnode.yaml'), JSON.stringify(all));
  const args = [here('../../bin/crawlnode.js'), 'crawl', 'titles', '--exit-when-done'];
  args.push('-a', `start=${site.url}`, '-a', `within=${site.within}`);
  return { project, args };
}

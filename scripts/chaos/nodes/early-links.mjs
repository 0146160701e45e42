/**
 * R37: a page of so many links with dontFilter that a part is pushed before its settle. Its node is killed then, when some of
 * the links are done. The page comes again at another node, and none of its links is accepted twice.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { until } from '../harness/stage.mjs';

/** One more than a settle carries: so a thousand are pushed early. */
const LINKS = 2_001;
const DONE_BEFORE = 50;

const spiderOf = (origin) => `
import { Request, Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  allowedDomains = ['127.0.0.1'];
  startUrls = ['${origin}/'];
  *parse(response) {
    yield { url: response.url };
    if (new URL(response.url).pathname !== '/') return;
    for (let n = 1; n <= ${LINKS}; n++) yield new Request('${origin}/p' + n, { dontFilter: true });
    yield new Request('http://offsite.example/');
  }
}
`;

/** It holds up the page at its last link, which is offsite, until its process is killed. */
const extension = `
import { existsSync, writeFileSync } from 'node:fs';
export default class {
  async requestDropped() {
    if (existsSync('pushed')) return;
    writeFileSync('pushed', String(process.pid));
    await new Promise(() => {});
  }
}
`;

export const earlyLinks = {
  row: 'R37',
  fault: `SIGKILL of a node in the middle of a page of ${LINKS} links with dontFilter, when some of them are done`,
  engines: ['redis', 'embedded'],
  async run(row) {
    const links = Array.from({ length: LINKS }, (_, n) => `/p${n + 1}`);
    const site = await startSite({
      answer(_, response) {
        html(response);
        return true;
      },
    });
    const urls = [site.url, ...links.map((link) => site.origin + link)];
    const crawling = await beginCrawl(row, {
      site: { ...site, args: [], urls },
      nodes: 0,
      spider: spiderOf(site.origin),
      settings: { EXTENSIONS: { './hold.ts': 500 } },
    });
    const { dir } = crawling.project;
    await writeFile(path.join(dir, 'hold.ts'), extension);
    crawling.start(0);
    await until(() => existsSync(path.join(dir, 'pushed')), 'links to be pushed early');
    await until(() => site.requests.length > DONE_BEFORE, 'some of them to be done');
    const times = Number(await crawling.killAndRestart(0));
    const verdict = await crawling.verdict();
    if (verdict.stats.done !== urls.length) verdict.problems.push(`${verdict.stats.done} are done`);
    const again = site.requests.filter(({ path }) => path === '/').length;
    return { ...verdict, times, happened: { 'pages that came again': again - 1 } };
  },
};

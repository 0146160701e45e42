/** A spider with members of Scrapy crawls as they say; the environment and the command line override them. */
import { beforeEach, expect, it } from 'vitest';
import { Request, Response, runSpider, Spider } from '../../../src/index.js';
import { crawlLines } from '../../helpers/cli/crawled-project.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const spider = (members = '') => `
import { Request, Spider, type Response } from 'crawlnode';
export default class Old extends Spider {
  name = 'old';
  allowed_domains = ['127.0.0.1'];
  custom_settings = { USER_AGENT: 'of the settings', RETRY_ENABLED: false, DOWNLOAD_TIMEOUT: 9 };
  user_agent = 'of the spider';
  handle_httpstatus_list = [404];
  download_timeout = 7;
  max_concurrent_requests = 2;
  redis_key = '%(name)s:seeds';
  http_user = 'me';
  http_pass = 'secret';
  http_auth_domain = new URL(this.args.url ?? 'http://127.0.0.1:9/').host;
  ${members}

  *start_requests() {
    yield new Request(this.args.url ?? 'http://127.0.0.1:9/');
  }

  make_request_from_data(data: string) {
    return new Request(\`\${this.args.url ?? 'http://127.0.0.1:9/'}\${data}\`);
  }

  *parse(response: Response) {
    const { DOWNLOAD_TIMEOUT, CONCURRENT_REQUESTS_PER_DOMAIN } = this.settings;
    yield { status: response.status, limits: [DOWNLOAD_TIMEOUT, CONCURRENT_REQUESTS_PER_DOMAIN] };
    yield* response.followAll(['http://other.example/']);
  }
}
`;

let project: Project;
let site: Site;
let heard: unknown[];
beforeEach(async () => {
  heard = [];
  site = await startSite({
    handler: ({ headers, url }, response) => {
      heard.push([url, headers['user-agent'], headers.authorization]);
      response.writeHead(404, { 'content-type': 'text/html' }).end('gone');
      return true;
    },
  });
  project = await createProject({ files: { 'spiders/old.ts': spider() } });
});
const run = (...args: string[]) => runHere(args, { cwd: project.dir });

it('crawls with its delay, its statuses, its user agent, its password and its seeds', async () => {
  const url = `${site.origin}/`;
  // Seeds of the list are not trusted with private addresses.
  const more = ['-a', `url=${url}`, '-s', 'ALLOW_PRIVATE_ADDRESSES=true'];
  expect((await run('seed', 'old', 'page', '--to-start-urls')).code).toBe(0);
  const { code, lines, summary } = await crawlLines(project, 'old', ...more);
  expect(code).toBe(0);
  const item = { status: 404, limits: [7, 2] };
  expect(lines).toEqual([item, item]);
  const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  expect(heard).toContainEqual(['/', 'of the spider', basic]);
  expect(heard).toContainEqual(['/page', 'of the spider', basic]);
  expect(summary.deadEnds).toContainEqual(expect.objectContaining({ example: 'http://other.example/' }));
});

it('environment and command line override members, members override customSettings and the file', async () => {
  await project.write('crawlnode.yaml', 'USER_AGENT: of the file\nCONCURRENT_REQUESTS_PER_DOMAIN: 5\n');
  const settings = async (...args: string[]) => {
    const names = ['USER_AGENT', 'DOWNLOAD_TIMEOUT', 'RETRY_ENABLED', 'REDIS_START_URLS_KEY'];
    const { stdout } = await run('settings', ...names, '--spider', 'old', '--json', ...args);
    return JSON.parse(stdout);
  };
  expect(await settings()).toEqual({
    USER_AGENT: { value: 'of the spider', source: 'spider' },
    DOWNLOAD_TIMEOUT: { value: 7, source: 'spider' },
    RETRY_ENABLED: { value: false, source: 'spider' },
    REDIS_START_URLS_KEY: { value: '%(name)s:seeds', source: 'spider' },
  });
  expect(await settings('-s', 'USER_AGENT=typed')).toMatchObject({
    USER_AGENT: { value: 'typed', source: 'cli' },
  });
});

it('a value that the setting cannot take names the member', async () => {
  await project.write('spiders/old.ts', spider("download_delay = 'soon';"));
  expect(await run('crawl', 'old', '--dry-run')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /download_delay of the spider old \(.*old\.ts\): DOWNLOAD_DELAY: expected a number/,
    ),
  });
});

it('counts in programs too', async () => {
  class Old extends Spider {
    override name = 'old';
    download_timeout = 3;
    override *parse() {
      yield { timeout: this.settings.DOWNLOAD_TIMEOUT };
    }
  }
  const url = 'http://a.example/';
  const page = new Response({
    url,
    status: 200,
    headers: {},
    body: Buffer.alloc(0),
    request: new Request(url),
  });
  expect((await runSpider(Old, page)).items).toEqual([{ timeout: 3 }]);
});

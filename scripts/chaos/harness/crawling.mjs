/** A crawl of a site by several nodes, each a process of the executable, and the verdict at its end. */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSteadySite } from '../crawls/steady-site.mjs';
import { startDocs } from './docs-site.mjs';
import { command, crawl, endOf, newProject, written } from './project.mjs';
import { refetchesOf, resumeDelays } from './recovery.mjs';
import { durable, startStore } from './redis.mjs';
import { atCleanUp, tempDir, until } from './stage.mjs';

/** Beside the rate of the site, so that a crawl that hangs ends the row and not the harness. */
const SLACK_MS = 120_000;
/** The access log is read whole each time. */
const LOOK_EVERY_MS = 100;

/**
 * Begin a crawl.
 * @param row { engine, scale } @param options `redis`: what nodes connect to instead of a server of their own, null where `settings` say it;
 * `site`: another than the documentation, with { args, urls, log() }; `args`, `settings`: of each node; `spider`: another source
 */
export async function beginCrawl(
  { engine, scale },
  { nodes = 4, redis, settings = {}, args = [], site, spider } = {},
) {
  const pages = site ?? (await pagesOf(scale));
  const server = redis === undefined && engine === 'redis' ? await startStore(durable) : (redis ?? null);
  const both = { ITEM_PIPELINES: { RedisPipeline: 300 }, ...settings };
  const project = await newProject(server, both, spider);
  const longestMs = (1_000 * pages.urls.length) / scale.pagesPerSecond + (scale.slackMs ?? SLACK_MS);
  const running = new Crawling(pages, project, args, longestMs);
  for (let n = 0; n < nodes; n++) running.start(n);
  return running;
}

async function pagesOf(scale) {
  if (scale.generated) {
    const { generatedPages, copies, pagesPerSecond } = scale;
    return startSteadySite({ pages: generatedPages * copies, pagesPerSecond });
  }
  const site = await startDocs(await tempDir('site'), scale);
  atCleanUp(site.stop);
  return site;
}

class Crawling {
  /** All nodes by their number, the last life of each; and all lives. */
  nodes = [];
  lives = [];
  /** Agents that were killed or stopped, and when. */
  faults = [];

  constructor(site, project, args, longestMs) {
    this.site = site;
    this.project = project;
    this.redis = project.redis;
    this.args = args;
    this.longestMs = longestMs;
  }

  /** Start node n, or start it again. @param wrap a command before that of the node */
  start(n, more = [], wrap = []) {
    const agent = `n${n}.${this.lives.length + 1}`;
    const own = ['-o', `n${n}.jsonl`, '--node-id', `n${n}`, '-s', `USER_AGENT=${agent}`];
    const args = ['--exit-when-done', ...this.site.args, ...own, ...this.args, ...more];
    const node = Object.assign(crawl(this.project, args, { wrap }), { agent });
    this.nodes[n] = node;
    this.lives.push(node);
    return node;
  }

  /** SIGKILL, once its pages count as abandoned; and start it again. */
  async killAndRestart(n) {
    const node = this.nodes[n];
    if (node.over()) return false;
    this.faultOf(node);
    node.signal('SIGKILL');
    await node.ended;
    // Another fault may have replaced it meanwhile.
    if (this.nodes[n] === node) this.start(n);
    return true;
  }

  /** From now on, pages of this node that others ask for again count as recovered. */
  faultOf(node) {
    this.faults.push({ agent: node.agent, atMs: Date.now() });
  }

  get isOver() {
    return this.nodes.every((node) => node.over());
  }

  /** How many lines of the log, of all lives of the nodes, hold these words. */
  saidTimes(words) {
    return this.lives.flatMap((node) => node.lines()).filter(({ msg }) => msg?.includes(words)).length;
  }

  /** Wait until so much of the site was asked for; over is far enough. */
  async untilPart(part) {
    const enough = this.site.urls.length * part;
    const isFar = async () => this.isOver || (await this.site.log()).length >= enough;
    await until(isFar, `${Math.round(enough)} requests`, this.longestMs, LOOK_EVERY_MS);
  }

  /** Wait until each node has asked for a page: a signal that comes before ends any process. */
  async untilAllCrawl() {
    const doAll = async () => {
      const agents = new Set((await this.site.log()).map(({ agent }) => agent));
      return this.nodes.every((node) => node.over() || agents.has(node.agent));
    };
    await until(doAll, 'each node to crawl', this.longestMs, LOOK_EVERY_MS);
  }

  /** Whether this life of a node has asked for a page. */
  async hasAsked({ agent }) {
    return (await this.site.log()).some((request) => request.agent === agent);
  }

  /** Wait until the site was asked for something from now on; over is far enough. */
  async untilNextPage() {
    const before = (await this.site.log()).length;
    const isFar = async () => this.isOver || (await this.site.log()).length > before;
    await until(isFar, 'the crawl to go on', this.longestMs, LOOK_EVERY_MS);
  }

  /** Between two faults; ends early with the crawl. */
  async pause(ms) {
    for (const endAt = Date.now() + ms; Date.now() < endAt && !this.isOver; ) await sleep(50);
  }

  /** @returns how each node ended; one that does not within the time is killed and is a problem. */
  async ends() {
    return Promise.all(this.nodes.map((node) => endOf(node, this.longestMs)));
  }

  /** Run a command of the executable in the project. */
  command(...args) {
    return command(this.project, args);
  }

  /** What `stats --json` says of the crawl. */
  async stats() {
    return JSON.parse((await this.command('stats', 'walk', '--json')).stdout);
  }

  /**
   * Wait for the end, and compare what the crawl left with what the site has.
   * @param expected URLs of the items @param exit what each node must end with; null for anything
   * @param isListed whether the items are in the items list as well as in the files
   * @returns missing, twice, refetched, and problems as sentences
   */
  async verdict({ expected = this.site.urls, exit = 0, failures = 0, isListed = true } = {}) {
    const problems = [];
    for (const [n, { code, signal }] of (await this.ends()).entries()) {
      if (exit !== null && code !== exit)
        problems.push(`node ${n} ended with ${code ?? signal}: ${this.nodes[n].said.slice(-400)}`);
    }
    const stats = await this.stats();
    const left = stats.pending + stats.delayed + stats.leased;
    if (left > 0) problems.push(`${stats.pending} pending, ${stats.delayed} delayed, ${stats.leased} leased`);
    if (stats.failed !== failures)
      problems.push(`${stats.failed} failed: ${JSON.stringify(await this.failures()).slice(0, 500)}`);
    problems.push(...(await this.doctor()));
    const lists = [await written(this.project), ...(isListed ? [await this.items()] : [])];
    const found = lists.map((urls) => new Set(urls));
    const missing = expected.filter((url) => found.some((urls) => !urls.has(url))).length;
    const twice = lists.reduce((sum, urls, n) => sum + urls.length - found[n].size, 0);
    const known = new Set(expected);
    const extra = [...found[0]].filter((url) => !known.has(url));
    if (missing > 0) problems.push(`${missing} pages are missing`);
    if (twice > 0) problems.push(`${twice} items are there twice`);
    if (extra.length > 0) problems.push(`nobody expected ${extra.slice(0, 3)}`);
    const log = await this.site.log();
    return { missing, twice, pages: expected.length, refetched: refetchesOf(log), problems, stats, log };
  }

  /** What `doctor --deep` finds wrong. */
  async doctor() {
    const { stdout, stderr } = await this.command('doctor', 'walk', '--deep', '--json');
    if (stdout === '') return [`doctor: ${stderr}`];
    const { findings } = JSON.parse(stdout);
    return findings
      .filter(({ level }) => level === 'problem')
      .map(({ check, message }) => `doctor: ${check}: ${message}`);
  }

  /** URLs in the items list of the crawl. */
  async items() {
    const file = 'items-list.json';
    const { code, stderr } = await this.command('items', 'walk', 'export', '-O', file);
    if (code !== 0) throw new Error(`items export: ${stderr}`);
    const text = await readFile(path.join(this.project.dir, file), 'utf8');
    await rm(path.join(this.project.dir, file));
    return text.trim() === '' ? [] : JSON.parse(text).map(({ url }) => url);
  }

  /** The failed list. */
  async failures() {
    const { stdout } = await this.command('failed', 'walk', 'list', '--json');
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

/**
 * Cause a fault again and again, as often as the scale says, at random instants in the middle of a crawl, while each node
 * crawls; and judge the crawl when it is over.
 * @param cause does it once, and resolves with the instant from which the crawl can go on
 * @param settled waits, after the next page, for what the next fault needs
 */
export async function repeatFault(crawling, { scale, random }, cause, settled = async () => {}) {
  const backAtMs = [];
  for (let n = 0; n < scale.faults && !crawling.isOver; n++) {
    await crawling.untilPart(0.15 + (0.6 * n) / scale.faults);
    await crawling.untilAllCrawl();
    await crawling.pause(random.between(0, 1_000));
    if (crawling.isOver) break;
    backAtMs.push(await cause());
    await crawling.untilNextPage();
    await settled();
  }
  const verdict = await crawling.verdict();
  return { ...verdict, times: backAtMs.length, recoveryMs: resumeDelays(verdict.log, backAtMs) };
}

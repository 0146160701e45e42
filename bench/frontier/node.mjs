/** One node of `nodes.mjs`: crawls its pages, and says what CPU they took. */
import { hostname } from 'node:os';
import { openFrontier } from '../../dist/internal.js';
import { crawlBySlots } from './pages.mjs';
import { requestOf } from './requests.mjs';
import { joinOptions } from './stage.mjs';

const { options, warmUp, pages } = JSON.parse(process.argv[2]);
const frontier = await openFrontier(options);
await frontier.join({ id: `bench-${process.pid}`, host: hostname(), pid: process.pid }, joinOptions);
const links = Array.from({ length: 10 }, (_, n) => requestOf(n, 100));
await crawlBySlots(frontier, warmUp, 16, links);
const before = process.cpuUsage();
await crawlBySlots(frontier, pages, 16, links);
const { user, system } = process.cpuUsage(before);
await frontier.leave('finished');
await frontier.close();
console.log(JSON.stringify({ cpuUs: user + system }));

/** The CLI from source, for work on crawlnode itself: `npm run dev -- crawl quotes`. */
import { start } from '../src/cli/main.js';

await start(process.argv.slice(2));

/**
 * The command line from source, for work on crawlnode itself. `npm run` starts it in the checkout; it goes back to the folder
 * where npm was called, so it also runs another project: `npm --prefix CHECKOUT run dev -- crawl shop`.
 */
import { start } from '../src/cli/main.js';

if (process.env.INIT_CWD !== undefined) process.chdir(process.env.INIT_CWD);
await start(process.argv.slice(2));

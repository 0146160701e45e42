/** The first module of the executable: it hears signals, reuses compiled code between runs where Node can (22.1 and later), then runs the command line. */
import module from 'node:module';
import { cacheFolders } from './cache-folders.js';
import { exitOnSignalAsProcessOne } from './exit-process.js';

exitOnSignalAsProcessOne();
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => void };
const folder = enableCompileCache && cacheFolders(process.env).compiled;
if (folder) enableCompileCache(folder);
// After the cache is enabled.
const { start } = await import('./main.js');
await start(process.argv.slice(2));

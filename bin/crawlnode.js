#!/usr/bin/env node
// The executable: hear signals, reuse compiled code between runs where Node can (22.1 and later), then run the command line.
import module from 'node:module';
import { cacheFolders } from '../dist/cli/cache-folders.js';
import { exitOnSignalAsProcessOne } from '../dist/cli/exit-process.js';

exitOnSignalAsProcessOne();
const folder = module.enableCompileCache && cacheFolders(process.env).compiled;
if (folder) module.enableCompileCache(folder);
const { start } = await import('../dist/cli/main.js');
await start(process.argv.slice(2));

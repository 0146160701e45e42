#!/usr/bin/env node
// The executable: reuse compiled code between runs where Node can (22.1 and later), then hand over to the CLI.
import module from 'node:module';
import { cacheFolders } from '../dist/cli/cache-folders.js';

const folder = module.enableCompileCache && cacheFolders(process.env).compiled;
if (folder) module.enableCompileCache(folder);
const { start } = await import('../dist/cli/main.js');
await start(process.argv.slice(2));

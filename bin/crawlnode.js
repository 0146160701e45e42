#!/usr/bin/env node
// The executable: reuse compiled code between runs where Node can (22.1 and later), then hand over to the CLI.
import module from 'node:module';

module.enableCompileCache?.();
const { start } = await import('../dist/cli/main.js');
await start(process.argv.slice(2));

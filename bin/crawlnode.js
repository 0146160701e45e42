#!/usr/bin/env node
// The executable: reuse compiled code between runs, then hand over to the CLI.
import module from 'node:module';

module.enableCompileCache?.();
const { start } = await import('../dist/executable/program.js');
await start(process.argv.slice(2));

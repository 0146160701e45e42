#!/usr/bin/env node
try {
  await import('../dist/bin.js');
} catch (error) {
  // With few open files allowed, not even the module that prints errors can be loaded.
  if (error?.code !== 'EMFILE') throw error;
  process.stderr.write(`crawlnode: ${error.message}: raise the limit of open files (ulimit -n)\n`);
  process.exit(1);
}

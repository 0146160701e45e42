/** What is in the executable's bundle: the command line, and what spiders import from it. */
export { start } from '../cli/main.js';
export * as api from '../index.js';

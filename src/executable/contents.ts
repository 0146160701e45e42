/** What is in the executable's bundle: the command line, and what spiders import from it. */
import * as api from '../index.js';

export { start } from '../cli/main.js';
export { api };

// The bundler gives classes other names where theirs are taken; `console.log(response)` would show a `Response2`.
for (const [name, value] of Object.entries(api)) Object.defineProperty(value, 'name', { value: name });

/** `npm run docs`: write the reference pages and config/crawlnode.yaml anew. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencePages } from './reference-pages.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

for (const [file, text] of Object.entries(await referencePages())) {
  const to = path.join(root, file);
  await mkdir(path.dirname(to), { recursive: true });
  await writeFile(to, text);
  console.log(file);
}

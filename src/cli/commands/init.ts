/** `crawlnode init DIR`: a new project that can be crawled at once. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { shellWord } from '../../crawler/project/shell-word.js';
import { makeFolder } from '../../disk/make-folder.js';
import { UsageError } from '../../errors.js';
import type { CliCommand } from '../command.js';
import { note, print, printJson } from '../context.js';
import { mayExist, projectTemplate, projectTools } from '../project/project-template.js';

const help = `
Writes settings, one spider with comments, the schema of its items, a pipeline, a test, configurations of
TypeScript and Biome, a script for cron, and a README. Existing files are never overwritten. Nothing is downloaded.

Examples:
  crawlnode init shop
  crawlnode init .`;

const toolsCommand = [
  'npm install --save-dev --save-exact',
  ...Object.entries(projectTools).map(([name, version]) => `${name}@${version}`),
].join(' ');

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<dir>', 'folder of the project, created if missing; . is the current folder')
      .addHelpText('after', help),
  run: async (context, [dir = '']) => {
    const folder = path.resolve(context.cwd, dir);
    const files = Object.entries(projectTemplate(path.basename(folder)));
    const existing = files.map(([file]) => file).filter((file) => existsSync(path.join(folder, file)));
    const conflicts = existing.filter((file) => !mayExist.has(file));
    if (conflicts.length > 0) {
      throw new UsageError(
        `${dir} holds ${conflicts.join(', ')} already; existing files are not overwritten: choose another folder`,
      );
    }
    const written = files.filter(([file]) => !existing.includes(file));
    for (const [file, text] of written) {
      makeFolder(path.dirname(path.join(folder, file)));
      // `wx` fails if the file was created since the check.
      const mode = file.endsWith('.sh') ? 0o777 : 0o666;
      await writeFile(path.join(folder, file), text, { flag: 'wx', mode });
    }
    for (const file of existing) note(context, `${file} exists already and was not changed`);
    if (existing.includes('package.json')) note(context, `tests and lint need: ${toolsCommand}`);
    if (context.globals.json) {
      printJson(context, { dir: folder, files: written.map(([file]) => file) });
      return 0;
    }
    const run = context.env.npm_command === 'exec' ? 'npx crawlnode' : 'crawlnode';
    print(context, `a new project in ${dir}: ${written.map(([file]) => file).join(', ')}\n`);
    print(context, 'next:\n');
    if (folder !== path.resolve(context.cwd)) print(context, `  cd ${shellWord(dir)}`);
    print(context, `  ${run} crawl quotes -o quotes.jsonl --exit-when-done`);
    print(
      context,
      '\nThe spider crawls https://quotes.toscrape.com/; "-a start=URL" sets another start URL.',
    );
    return 0;
  },
};

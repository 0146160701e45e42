/** `crawlnode genspider NAME DOMAIN`: a new spider module, in the project or in the working folder. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { shellWord } from '../../crawler/project/shell-word.js';
import { makeFolder } from '../../disk/make-folder.js';
import { UsageError } from '../../errors.js';
import { namePattern } from '../../settings/sections/project.js';
import type { CliCommand } from '../command.js';
import { type Context, print, printJson } from '../context.js';
import { discover, loadProject } from '../project/open-project.js';
import { type NewSpider, spiderTemplates } from '../project/spider-templates.js';

const templateNames = Object.keys(spiderTemplates) as (keyof typeof spiderTemplates)[];

const help = `
Writes NAME.ts into the first folder of SPIDER_MODULES, or outside a project into the working folder. An existing file is
never overwritten. Nothing is downloaded.

Templates:
${templateNames.map((name) => `  ${name.padEnd(6)} ${spiderTemplates[name].summary}`).join('\n')}

Examples:
  crawlnode genspider shop shop.example
  crawlnode genspider news https://news.example/latest --template crawl`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<name>', 'name of the spider: letters, digits, dots, underscores and hyphens')
      .argument('<domain>', 'domain that it crawls, or the URL of its first page')
      .addOption(
        new Option('-t, --template <template>', 'what to begin with').choices(templateNames).default('basic'),
      )
      .addHelpText('after', help),
  run: async (context, [name = '', domain = ''], { template }) => {
    const spider = newSpider(name, domain);
    const place = await placeFor(context, name);
    const file = path.join(place.folder, `${name}.ts`);
    const shown = path.relative(context.cwd, file);
    makeFolder(place.folder);
    const text = spiderTemplates[template as keyof typeof spiderTemplates].text(spider);
    await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      throw new UsageError(
        `${shown} exists already; existing files are not overwritten: choose another name`,
      );
    });
    if (context.globals.json) {
      printJson(context, { name, file, template });
      return 0;
    }
    const run = place.isProject ? `crawl ${name} --exit-when-done` : `runspider ${shellWord(shown)}`;
    print(context, `a new spider in ${shown}\n`);
    print(context, `  crawlnode ${run} -o ${name}.jsonl`);
    return 0;
  },
};

/** @throws UsageError for a bad name or domain */
function newSpider(name: string, domain: string): NewSpider {
  if (!namePattern.test(name)) {
    throw new UsageError(
      `the name ${JSON.stringify(name)} is not of 1 to 64 letters, digits, dots, underscores and hyphens`,
    );
  }
  // Modules with these names are not loaded (`spider-files.ts`), or are taken for an option of the command line.
  if (/^[._-]/.test(name) || /\.(d|test|spec)$/.test(name)) {
    throw new UsageError(
      `${name}.ts cannot be the file of a spider: choose a name that begins with a letter or a digit, and does not end in .d, .test or .spec`,
    );
  }
  const url = firstPage(domain);
  return { name, className: classNameOf(name), host: url.host, startUrl: url.href };
}

function firstPage(domain: string): URL {
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/i.test(domain);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(domain) ? domain : `http${isLocal ? '' : 's'}://${domain}/`;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHostOnly = url !== null && (domain.includes('://') || url.host === domain.toLowerCase());
  const isPattern = url?.host.includes('*') === true;
  if (url !== null && isHostOnly && !isPattern && /^https?:$/.test(url.protocol) && url.username === '')
    return url;
  throw new UsageError(
    `${JSON.stringify(domain)} is neither a domain, such as shop.example, nor an http(s) URL, such as https://shop.example/lamps`,
  );
}

/** `my-shop.eu` → `MyShopEu`. */
function classNameOf(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  // The base classes are imported under their own names.
  return /^(\d.*|Spider|CrawlSpider|Response|)$/.test(joined) ? `The${joined}Spider` : joined;
}

/**
 * Where a new spider belongs. A folder with a settings file or with the folder of its spiders is a project.
 * @throws UsageError when the project has a spider of this name
 */
async function placeFor(
  context: Context,
  name: string,
): Promise<{ readonly folder: string; readonly isProject: boolean }> {
  const { settings, file } = await loadProject(context);
  const folders = settings.SPIDER_MODULES.filter((folder) => path.extname(folder) === '');
  const [folder] = folders;
  const isProject = file !== null || folders.some((each) => existsSync(each));
  if (!isProject) return { folder: context.cwd, isProject };
  if (folder === undefined) {
    throw new UsageError('SPIDER_MODULES names no folder, so there is no place for a new spider: add one');
  }
  const { spiders } = await discover(context, settings);
  const other = spiders.get(name);
  if (other === undefined) return { folder, isProject };
  throw new UsageError(
    `the project has a spider ${name} already, in ${path.relative(context.cwd, other.file)}; choose another name`,
  );
}

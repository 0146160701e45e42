// The executable in two scripts, its own modules and its dependencies in one: the command line and the heartbeat's thread
// (src/executable says why). Beside them what spiders import as `crawlnode`, and the licences of what is in them.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Native code, and a package that starts an executable of its own. */
const LEFT_OUT = ['lmdb', 'esbuild', 'tsx'];

/** @param folder - compiled modules, where `executable/` gets the bundles */
export async function bundle(folder) {
  const executable = path.join(folder, 'executable');
  const { metafile, warnings } = await build({
    entryPoints: {
      crawlnode: path.join(executable, 'contents.js'),
      heartbeat: path.join(folder, 'engine', 'heartbeat-thread.js'),
    },
    outdir: executable,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    banner: { js: '(function (module, require) {' },
    footer: { js: '})' },
    external: LEFT_OUT,
    plugins: [outside],
    // Without comments: all of them are in the modules, and the legal ones in the file of licences.
    legalComments: 'none',
    minifyWhitespace: true,
    lineLimit: 120,
    metafile: true,
    absWorkingDir: folder,
  });
  // `import.meta` and the like, which are empty in a script.
  if (warnings.length > 0) throw new Error('the bundle is not sound');
  await writeFile(path.join(executable, 'api.js'), await apiModule(folder));
  await writeFile(
    path.join(executable, 'LICENSES.txt'),
    await licences(Object.keys(metafile.inputs), folder),
  );
}

const outside = {
  name: 'outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/outside\.js$/ }, () => ({ path: 'outside', external: true })),
};

/** The public API, as the bundle that runs has it. */
async function apiModule(folder) {
  const names = Object.keys(await import(pathToFileURL(path.join(folder, 'index.js')).href));
  return `import { api } from './program.js';\nexport const { ${names.join(', ')} } = api;\n`;
}

/** What each package in the bundles asks to be told with its code. */
async function licences(inputs, folder) {
  const packages = new Set();
  for (const input of inputs) {
    const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/.][^/]*(?=\/)/.exec(path.resolve(folder, input)) ?? [];
    if (found !== undefined && !path.resolve(folder, input).startsWith(folder)) packages.add(found);
  }
  const texts = [...packages].sort().map(async (each) => {
    const { name, version, license } = JSON.parse(await readFile(path.join(each, 'package.json'), 'utf8'));
    const file = (await readdir(each)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n\n${(await readFile(path.join(each, file), 'utf8')).trim()}`;
    return `${name} ${version} (${license})${text}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

// The executable in two scripts, its own modules and its dependencies in one: the command line and the heartbeat's thread
// (src/executable says why). Beside them what spiders import as `crawlnode`, and the licences of what is in them.
//
// Each module keeps a scope of its own, as CommonJS has it. With all names in one, most of their numbers need a second
// byte in V8's code, which then exceeds what may be inlined: the loop of the parser took a tenth more CPU.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

/** Native code, and packages that start executables of their own. */
const LEFT_OUT = ['lmdb', 'esbuild', 'tsx'];

/** @param folder - compiled modules, where `executable/` gets the bundles */
export async function bundle(folder) {
  const executable = path.join(folder, 'executable');
  const scoped = path.join(folder, 'scoped');
  await toCommonJs(folder, scoped);
  const { metafile, warnings } = await build({
    entryPoints: {
      crawlnode: path.join(scoped, 'executable', 'contents.js'),
      heartbeat: path.join(scoped, 'engine', 'heartbeat-thread.js'),
    },
    outdir: executable,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    banner: { js: '"use strict";(function (exports, module, require) {' },
    footer: { js: '})' },
    external: LEFT_OUT,
    plugins: [outside, noHttp2],
    // Comments are in the modules, and the legal ones in the file of licences.
    legalComments: 'none',
    minifyWhitespace: true,
    lineLimit: 120,
    metafile: true,
    absWorkingDir: folder,
  });
  // `import.meta`, which is empty in a script, is one of them.
  if (warnings.length > 0) throw new Error('what esbuild warns of would break the executable');
  await rm(scoped, { recursive: true });
  await writeFile(path.join(executable, 'api.js'), await apiModule(folder));
  const inputs = Object.keys(metafile.inputs).map((input) => path.resolve(folder, input));
  await writeFile(path.join(executable, 'LICENSES.txt'), await licencesOf(inputs, folder));
}

const outside = {
  name: 'outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/outside\.js$/ }, () => ({ path: 'outside', external: true })),
};

/** What got would use if it were told to speak HTTP/2, which it never is; loading it takes 10 ms of CPU. */
const noHttp2 = {
  name: 'no-http2',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^http2-wrapper$/ }, ({ path }) => ({ path, namespace: 'no-http2' }));
    onLoad({ filter: /.*/, namespace: 'no-http2' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** esbuild's own CommonJS reads every import through a function. */
async function toCommonJs(from, to) {
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2023,
    esModuleInterop: true,
  };
  for (const file of await readdir(from, { recursive: true })) {
    if (!file.endsWith('.js')) continue;
    const source = await readFile(path.join(from, file), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions, fileName: file });
    await mkdir(path.dirname(path.join(to, file)), { recursive: true });
    await writeFile(path.join(to, file), outputText);
  }
  await writeFile(path.join(to, 'package.json'), '{ "type": "commonjs" }');
}

/** The public API, as the bundle that runs has it. */
async function apiModule(folder) {
  const names = Object.keys(await import(pathToFileURL(path.join(folder, 'index.js')).href));
  return `import { api } from './program.js';\nexport const { ${names.join(', ')} } = api;\n`;
}

/** What each package among the inputs asks to be told with its code. */
async function licencesOf(inputs, folder) {
  const dependencies = inputs.filter((input) => !input.startsWith(folder));
  const packages = new Set(
    dependencies.map((input) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)[0]),
  );
  const texts = [...packages].sort().map(async (each) => {
    const { name, version, license } = JSON.parse(await readFile(path.join(each, 'package.json'), 'utf8'));
    const file = (await readdir(each)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n\n${(await readFile(path.join(each, file), 'utf8')).trim()}`;
    return `${name} ${version} (${license})${text}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

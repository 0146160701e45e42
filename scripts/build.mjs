// `npm run build`: src/ → dist/. esbuild joins the modules of src/ and of some packages into a few files, so that a start
// loads little; the entry points share them, so each class exists once. TypeScript writes the types of the public API.
//
// A node that runs from dist/ meanwhile, or a second build, never finds a file missing or half written: each is moved into
// its place whole, the entry points after what they load. The names of shared files contain a hash, and those of the last build
// stay until the next one, since a running node loads some of them late.
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildMark, dist, isBuildFresh, root } from './build-state.mjs';

/** The files of dist/ that something names. */
const entryPoints = {
  bin: 'src/cli/bin.ts',
  index: 'src/index.ts',
  'heartbeat-thread': 'src/node/membership/heartbeat-thread.ts',
  'module-hooks': 'src/spider/loading/module-hooks.ts',
  internal: 'src/internal.ts',
};
/** Packages of many small files that a start needs. All others are loaded from node_modules. */
const bundledPackages =
  /^(cheerio|commander|css-select|css-what|domhandler|entities|fastest-levenshtein|got|htmlparser2|ioredis|lru-cache|nth-check|pino|yaml|zod)$/;

/** Before it is packed, dist/ gets the files of this build alone. */
const isForPackage = process.argv.includes('--for-package');
/** For a copy of the sources that only runs, such as those of `npm run chaos -- --mutants`. */
const isWithoutTypes = process.argv.includes('--without-types');
if (isForPackage) await rm(dist, { recursive: true, force: true });
const startedAt = new Date();
if (isBuildFresh()) {
  console.log('build: dist/ is up to date');
} else {
  const modules = await bundle();
  // Like tsc itself: what could be emitted is there, and the exit code says that it is not sound.
  if (await writeTypes()) {
    await install(buildMark, JSON.stringify(modules));
    // What has changed meanwhile is not in it.
    await utimes(buildMark, startedAt, startedAt);
  } else process.exitCode = 1;
}

/** @returns for each file of JavaScript in dist/ the modules that became part of it */
async function bundle() {
  const { dependencies, peerDependencies } = JSON.parse(await readFile(path.join(root, 'package.json')));
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // A start parses less; the names in stack traces stay.
    minifyWhitespace: true,
    minifySyntax: true,
    // Node prints the source line of an uncaught error.
    lineLimit: 160,
    legalComments: 'none',
    external: Object.keys({ ...dependencies, ...peerDependencies }).filter(
      (name) => !bundledPackages.test(name),
    ),
    plugins: [
      { name: 'inlined modules', setup: inlineModules },
      { name: 'builtins of CommonJS', setup: giveBuiltinsToCommonJs },
    ],
    metafile: true,
    logLevel: 'warning',
  });
  const modules = Object.fromEntries(
    Object.entries(metafile.outputs).map(([file, { inputs }]) => [
      path.relative(dist, path.join(root, file)),
      Object.keys(inputs),
    ]),
  );
  const isEntry = ({ path: file }) => path.dirname(file) === dist;
  for (const file of outputFiles.sort((a, b) => isEntry(a) - isEntry(b)))
    await install(file.path, withClassNames(file.text));
  const last = JSON.parse(await readFile(buildMark, 'utf8').catch(() => '{}'));
  for (const name of await readdir(path.join(dist, 'chunks'))) {
    const chunk = path.join('chunks', name);
    if (!(chunk in modules || chunk in last)) await rm(path.join(dist, chunk), { force: true });
  }
  const inputs = [...Object.keys(metafile.inputs), ...(await bundleDashboard())];
  const folders = inputs.map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
  const packages = [...new Set(folders)].filter((folder) => folder !== undefined).sort();
  await install(path.join(dist, 'third-party-licenses.txt'), await licensesOf(packages));
  return modules;
}

/** The page of the dashboard, of files that its server names: dist/dashboard/. @returns the modules that became part of it */
async function bundleDashboard() {
  const folder = path.join(dist, 'dashboard');
  const web = path.join(root, 'src', 'dashboard', 'web');
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { app: 'src/dashboard/web/app.ts' },
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  for (const file of outputFiles) await install(file.path, file.contents);
  for (const name of ['index.html', 'favicon.svg'])
    await install(path.join(folder, name), await readFile(path.join(web, name)));
  return Object.keys(metafile.inputs);
}

/** Write a file of dist/ and move it into its place. */
async function install(file, content) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.${process.pid}`, content);
  await rename(`${file}.${process.pid}`, file);
}

/**
 * esbuild calls a class that refers to itself `_Request`, and users see that name in console.log() and messages. `keepNames`
 * would add a call for each function of a file.
 */
function withClassNames(code) {
  return code.replaceAll(
    /\b([A-Z]\w*)=class _\1\b[^{]*\{/g,
    (head, name) => `${head}static{Object.defineProperty(this,"name",{value:"${name}"})}`,
  );
}

/** A module `*.inlined.ts` reads files beside it. It runs here, and its values take its place. */
function inlineModules({ onLoad, esbuild }) {
  onLoad({ filter: /\.inlined\.ts$/ }, async ({ path: file }) => {
    const define = { 'import.meta.url': JSON.stringify(pathToFileURL(file)) };
    const { code } = await esbuild.transform(await readFile(file, 'utf8'), { loader: 'ts', define });
    const values = Object.entries(await import(`data:text/javascript,${encodeURIComponent(code)}`));
    return {
      contents: values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n'),
    };
  });
}

/** An ES module has no `require`, by which CommonJS packages ask for Node's own modules. */
function giveBuiltinsToCommonJs({ onResolve, onLoad }) {
  onResolve({ filter: /./ }, ({ path: name, kind }) =>
    kind === 'require-call' && isBuiltin(name) ? { path: name, namespace: 'builtin' } : undefined,
  );
  onLoad({ filter: /./, namespace: 'builtin' }, ({ path: name }) => ({
    contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
  }));
}

/** The licenses of bundled packages ask for their texts to go along. */
async function licensesOf(folders) {
  const texts = folders.map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(path.join(root, folder, 'package.json')));
    const file = (await readdir(path.join(root, folder))).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : await readFile(path.join(root, folder, file), 'utf8');
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  const head = 'Parts of these packages are in the files of this folder.\n';
  return [head, ...(await Promise.all(texts))].join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * Write the declarations that `index.d.ts` needs. Without the compiler, as after `npm ci --omit=dev`, there are none.
 * @returns whether the compiler found no error
 */
async function writeTypes() {
  const tsc = isWithoutTypes ? null : findTypeScript();
  if (tsc === null) {
    console.log('build: without types');
    return true;
  }
  const all = path.join(root, 'node_modules', '.cache', 'crawlnode-types');
  const args = [tsc, '-p', path.join(root, 'tsconfig.build.json'), '--outDir', all];
  const last = ['--incremental', '--tsBuildInfoFile', path.join(all, 'last-build.json')];
  const { status } = spawnSync(process.execPath, [...args, ...last], { cwd: root, stdio: 'inherit' });
  const pending = ['index.d.ts'];
  for (const file of pending) {
    const text = await readFile(path.join(all, file), 'utf8');
    for (const [, specifier] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)\.js['"]/g)) {
      const imported = path.join(path.dirname(file), `${specifier}.d.ts`);
      if (!pending.includes(imported)) pending.push(imported);
    }
    await install(path.join(dist, file), text);
  }
  await install(path.join(dist, 'internal.d.ts'), "export * from '../src/internal.js';\n");
  return status === 0;
}

/** The compiler of this project's own node_modules (or a parent's), or null. */
function findTypeScript() {
  try {
    return createRequire(import.meta.url).resolve('typescript/bin/tsc');
  } catch {
    return null;
  }
}

// `npm run build`: src/ → dist/. esbuild joins the modules of src/ and of some packages into a few files, so that a start
// loads little; the entry points share them, so each class exists once. TypeScript writes the types of the public API.
//
// The output is made in a folder of its own and then moved into dist/ file by file, entry points last: a node that
// runs from dist/ meanwhile, or a second build, never finds a file missing or half written. The names of shared files contain a
// hash, and those of the last build stay until the next one: a node that runs loads some of them late. Nothing is
// done when neither the sources nor dist/ have changed since the last build that was sound.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
  /^(cheerio|commander|css-select|css-what|domhandler|entities|fastest-levenshtein|got|htmlparser2|lru-cache|nth-check|yaml|zod)$/;

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const cache = path.join(root, 'node_modules', '.cache');
const fresh = path.join(cache, `crawlnode-build-${process.pid}`);
/** Holds, of the last build that was sound, what `fingerprint` gave and the files. */
const lastBuildFile = path.join(cache, 'crawlnode-build.json');
const require = createRequire(import.meta.url);

const tsc = findTypeScript();
if (tsc === null) {
  // `npm ci --omit=dev` runs `prepare` without the compiler: fine where dist/ was copied along, as in the Dockerfile.
  if (existsSync(path.join(dist, 'index.js'))) {
    console.error('build: TypeScript is not installed; keeping the dist/ that is there');
    process.exit(0);
  }
  console.error(
    'build: TypeScript is not installed and there is no dist/; run "npm ci" without --omit=dev first',
  );
  process.exit(1);
}

const lastBuild = await readFile(lastBuildFile, 'utf8')
  .then(JSON.parse)
  .catch(() => null);
/** Before it is packed, dist/ is left with the files of this build alone. */
const isForPackage = process.argv.includes('--for-package');
/** For a copy of the sources that only runs, such as those of `npm run chaos -- --mutants`. */
const isWithoutTypes = process.argv.includes('--without-types');
if (!isForPackage && lastBuild !== null && (await fingerprint()) === lastBuild.fingerprint) {
  const now = new Date();
  await utimes(lastBuildFile, now, now); // the tests compare its time with those of the sources
  console.log('build: dist/ is up to date');
  process.exit(0);
}

try {
  const packages = await bundle();
  await writeFile(path.join(fresh, 'third-party-licenses.txt'), await licensesOf(packages));
  const typesAreSound = isWithoutTypes || (await writeTypes());
  await writeFile(path.join(fresh, 'internal.d.ts'), "export * from '../src/internal.js';\n");
  const files = await install();
  // Like tsc itself: what could be emitted is there, and the exit code says that it is not sound.
  if (typesAreSound)
    await writeFile(lastBuildFile, JSON.stringify({ fingerprint: await fingerprint(), files }));
  else process.exitCode = 1;
} finally {
  await rm(fresh, { recursive: true, force: true });
}

/** The compiler of this project's own node_modules (or a parent's), or null. */
function findTypeScript() {
  try {
    return require.resolve('typescript/bin/tsc');
  } catch {
    return null;
  }
}

/** @returns the folders of the packages that became part of the output */
async function bundle() {
  const { build } = await import('esbuild');
  const { dependencies, peerDependencies } = JSON.parse(await readFile(path.join(root, 'package.json')));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: fresh,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // A start parses less; the names in stack traces stay.
    minifyWhitespace: true,
    minifySyntax: true,
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
  const modules = Object.entries(metafile.outputs).map(([file, { inputs }]) => [
    path.relative(path.relative(root, fresh), file),
    Object.keys(inputs),
  ]);
  await writeFile(path.join(fresh, 'internal.modules.json'), JSON.stringify(Object.fromEntries(modules)));
  const folders = Object.keys(metafile.inputs).map(
    (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1],
  );
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
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

/** The declarations that `index.d.ts` needs. @returns whether the compiler found no error */
async function writeTypes() {
  const all = path.join(fresh, 'types');
  const args = [tsc, '-p', path.join(root, 'tsconfig.build.json'), '--outDir', all];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const pending = ['index.d.ts'];
  for (const file of pending) {
    const text = await readFile(path.join(all, file), 'utf8');
    for (const [, specifier] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)\.js['"]/g)) {
      const imported = path.join(path.dirname(file), `${specifier}.d.ts`);
      if (!pending.includes(imported)) pending.push(imported);
    }
    await mkdir(path.dirname(path.join(fresh, file)), { recursive: true });
    await rename(path.join(all, file), path.join(fresh, file));
  }
  await rm(all, { recursive: true });
  return status === 0;
}

/** Move the fresh files over dist/, then remove what neither this nor the last build made. @returns the files */
async function install() {
  const isEntry = (file) => file.slice(0, -'.js'.length) in entryPoints;
  const files = (await filesIn(fresh)).sort((a, b) => isEntry(a) - isEntry(b));
  for (const file of files) {
    const from = path.join(fresh, file);
    const to = path.join(dist, file);
    if (await sameContent(from, to)) continue;
    await mkdir(path.dirname(to), { recursive: true });
    await rename(from, to);
  }
  const late = isForPackage ? [] : (lastBuild?.files ?? []).filter((file) => file.startsWith('chunks'));
  const keep = new Set([...files, ...late]);
  for (const file of await filesIn(dist)) {
    if (keep.has(file)) continue;
    await rm(path.join(dist, file), { force: true });
    await removeEmpty(path.dirname(file));
  }
  return files;
}

/** Remove a folder of dist/ and those around it, as far as they are empty now. */
async function removeEmpty(folder) {
  if (folder === '.') return;
  await rmdir(path.join(dist, folder)).then(
    () => removeEmpty(path.dirname(folder)),
    () => {},
  );
}

/** A hash of everything that a build reads, and of dist/ as it is. */
async function fingerprint() {
  const settings = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
  const files = settings.map((name) => path.join(root, name));
  for (const folder of [path.join(root, 'src'), dist])
    files.push(...(await filesIn(folder)).sort().map((name) => path.join(folder, name)));
  const hash = createHash('sha256');
  for (const file of files) {
    const content = await readFile(file).catch(() => Buffer.alloc(0)); // the Dockerfile copies only some of them
    hash.update(`${path.relative(root, file)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

async function sameContent(a, b) {
  const [left, right] = await Promise.all([readFile(a), readFile(b).catch(() => null)]);
  return right?.equals(left) ?? false;
}

/** Paths of all files below a folder, relative to it; none when it does not exist. */
async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)));
}

// `npm run build`: src/ → dist/, compiled by the local TypeScript, with Lua and SQL copied beside their modules.
//
// The output is made in a folder of its own and then moved into dist/ file by file: a node that runs from dist/
// meanwhile, or a second build, never finds a file missing or half written. Files that did not change are left
// alone, and those whose source is gone are removed last. Nothing is done when neither the sources nor dist/ have
// changed since the last build that was sound.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const source = path.join(root, 'src');
const dist = path.join(root, 'dist');
const cache = path.join(root, 'node_modules', '.cache');
const fresh = path.join(cache, `crawlnode-build-${process.pid}`);
/** Holds what `fingerprint` gave after the last build that was sound. */
const lastBuild = path.join(cache, 'crawlnode-last-build');

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

if ((await fingerprint()) === (await readFile(lastBuild, 'utf8').catch(() => null))) {
  console.log('build: dist/ is up to date');
  process.exit(0);
}

try {
  const compiled = spawnSync(
    process.execPath,
    [tsc, '-p', path.join(root, 'tsconfig.build.json'), '--outDir', fresh],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  await copyOthers();
  await install();
  // Like tsc itself: what could be emitted is there, and the exit code says that it is not sound.
  process.exitCode = compiled.status ?? 1;
  if (process.exitCode === 0) await writeFile(lastBuild, await fingerprint());
} finally {
  await rm(fresh, { recursive: true, force: true });
}

/** The compiler of this project's own node_modules (or a parent's), or null. */
function findTypeScript() {
  try {
    return createRequire(import.meta.url).resolve('typescript/bin/tsc');
  } catch {
    return null;
  }
}

/** Lua and SQL go along as they are. */
async function copyOthers() {
  for (const file of await filesIn(source)) {
    if (!/\.(lua|sql)$/.test(file)) continue;
    const to = path.join(fresh, file);
    await mkdir(path.dirname(to), { recursive: true });
    await copyFile(path.join(source, file), to);
  }
}

/** Move the fresh files over dist/, then remove what no longer has a source. */
async function install() {
  const wanted = await filesIn(fresh);
  for (const file of wanted) {
    const from = path.join(fresh, file);
    const to = path.join(dist, file);
    if (await sameContent(from, to)) continue;
    await mkdir(path.dirname(to), { recursive: true });
    await rename(from, to);
  }
  const keep = new Set(wanted);
  for (const file of await filesIn(dist)) {
    if (keep.has(file)) continue;
    await rm(path.join(dist, file), { force: true });
    await rmdir(path.dirname(path.join(dist, file))).catch(() => {}); // only when it is empty now
  }
}

/** A hash of everything that a build reads, and of dist/ as it is. */
async function fingerprint() {
  const settings = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
  const files = settings.map((name) => path.join(root, name));
  for (const folder of [source, dist])
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

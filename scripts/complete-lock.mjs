// Run after `npm install` where a registry does not carry the binaries of other platforms: npm then leaves them out of
// package-lock.json, and `npm ci` refuses that file everywhere. Adds an entry for each, without an integrity hash.
// A test of the package fails as long as one is missing.
import { readFile, writeFile } from 'node:fs/promises';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(await readFile(file, 'utf8'));
const added = [];

for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] !== undefined) continue;
    lock.packages[key] = {
      version,
      ...platformOf(name),
      ...(parent.dev ? { dev: true } : {}),
      optional: true,
    };
    added.push(name);
  }
}
if (added.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(
  added.length === 0 ? 'package-lock.json is complete' : `added to package-lock.json: ${added.join(', ')}`,
);

/** What such a package's name says of where it runs: `…-linux-x64-musl`. */
function platformOf(name) {
  const [, os, cpu, libc] =
    /(android|darwin|freebsd|linux|openbsd|win32)-(arm64|arm|ia32|x64)(?:-(gnu|musl))?$/.exec(name) ?? [];
  if (os === undefined) throw new Error(`${name} is missing, and its name does not say where it runs`);
  return { cpu: [cpu], ...(libc === 'musl' ? { libc: ['musl'] } : {}), os: [os] };
}

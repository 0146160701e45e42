/** Where the docs point to is there: pages, headings, files of the repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { pages, root } from './pages.js';

const byFile = new Map(pages.map((page) => [page.file, page]));

it('links lead to files and headings that exist', () => {
  const broken = pages.flatMap(({ file, links }) =>
    links
      .filter((link) => !/^(https?|mailto):/.test(link) && !resolves(file, link))
      .map((link) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

it('in the npm package links lead to files that are packed', () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }));
  const files: string[] = packed.files.map(({ path: file }: { path: string }) => file);
  const isPacked = (target: string) =>
    files.some((file) => `${file}/`.startsWith(`${target.replace(/\/$/, '')}/`));
  const dead = pages
    .filter(({ file }) => files.includes(file))
    .flatMap(({ file, links }) =>
      links
        .filter((link) => !/^(https?|mailto):|^#/.test(link))
        .map((link) => path.posix.join(path.posix.dirname(file), decodeURI(link.replace(/#.*/, ''))))
        .filter((target) => !isPacked(target))
        .map((target) => `${file}: ${target}`),
    );
  expect(files).toContain('README.md');
  expect(dead).toEqual([]);
});

it('the index names every page', () => {
  const index = byFile.get('docs/README.md');
  const linked = index?.links.map((link) => path.posix.join('docs', link.replace(/#.*/, '')));
  const others = pages.map(({ file }) => file).filter((file) => /^docs\/[^/]+\//.test(file));
  expect(others.filter((file) => !linked?.includes(file))).toEqual([]);
});

it('files and folders of the repository that are named in code exist', () => {
  const missing = pages.flatMap(({ file, inlineCode }) =>
    inlineCode
      .filter((text) => /^(src|test|bench|scripts|config|docs|bin|examples)\/[\w./-]*$/.test(text))
      .filter((text) => !existsSync(path.join(root, text)))
      .map((text) => `${file}: ${text}`),
  );
  expect(missing).toEqual([]);
});

it('files that comments of the source name exist', () => {
  const files = ['src', 'test'].flatMap((top) =>
    readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' }).map((file) => `/${top}/${file}`),
  );
  const sources = files.filter((file) => /^\/src\/.*\.(ts|lua|sql)$/.test(file));
  const missing = sources.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const named = [...text.matchAll(/[(`]((?:[a-z0-9-]+\/)*[a-z0-9-]+(?:\.test)?\.(?:ts|lua|sql))[)`]/g)];
    return named
      .filter(([, name]) => !files.some((each) => each.endsWith(`/${name}`)))
      .map(([, name]) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

function resolves(from: string, link: string): boolean {
  const [target = '', anchor] = link.split('#');
  const file = target === '' ? from : path.posix.join(path.posix.dirname(from), decodeURI(target));
  if (!existsSync(path.join(root, file))) return false;
  return anchor === undefined || (byFile.get(file)?.anchors.has(anchor) ?? false);
}

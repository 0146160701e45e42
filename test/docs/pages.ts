/** The Markdown pages of the repository, as the tests of this folder read them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Page {
  /** Path in the repository. */
  readonly file: string;
  readonly text: string;
  readonly headings: readonly string[];
  /** Names that a link may have behind its `#`. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of links and images. */
  readonly links: readonly string[];
  /** Texts of inline code. */
  readonly inlineCode: readonly string[];
  /** Fenced blocks; `language` is empty where none is named. */
  readonly blocks: readonly { readonly language: string; readonly text: string }[];
}

/** The pages at the top, those beside examples and deploy files, and all of docs/. */
export const pages: readonly Page[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'deploy/README.md',
  'examples/README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.posix.join('docs', file.split(path.sep).join('/')))
    .sort(),
].map(readPage);

/** Pages that people write. */
export const writtenPages = pages.filter(({ file }) => !file.startsWith('docs/reference/'));

function readPage(file: string): Page {
  const text = readFileSync(path.join(root, file), 'utf8');
  const slugger = new GithubSlugger();
  const page = {
    headings: [] as string[],
    anchors: new Set<string>(),
    links: [] as string[],
    inlineCode: [] as string[],
    blocks: [] as { language: string; text: string }[],
  };
  marked.walkTokens(marked.lexer(text), (token) => {
    const { type } = token;
    if (type === 'heading') {
      const heading = plainText((token as Tokens.Heading).tokens);
      page.headings.push(heading);
      page.anchors.add(slugger.slug(heading));
    }
    if (type === 'link' || type === 'image') page.links.push((token as Tokens.Link | Tokens.Image).href);
    if (type === 'codespan') page.inlineCode.push(unescaped((token as Tokens.Codespan).text));
    if (type === 'code') {
      const { lang = '', text: code } = token as Tokens.Code;
      page.blocks.push({ language: lang, text: code });
    }
    if (type === 'html') {
      for (const [, name = ''] of (token as Tokens.HTML).raw.matchAll(/<a name="([^"]+)">/g))
        page.anchors.add(name);
    }
  });
  return { file, text, ...page };
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens
        ? plainText(token.tokens)
        : unescaped('text' in token ? token.text : ''),
    )
    .join('');
}

function unescaped(text: string): string {
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}

/** The command lines that pages show, taken apart as a shell would. */
import type { Page } from './pages.js';

const shells = ['sh', 'console', 'cron', 'dockerfile', 'ini', 'yaml', 'python'];

/** @returns the words behind `crawlnode` of every command line in the blocks and the inline code of a page. */
export function typedCommands({ blocks, inlineCode }: Pick<Page, 'blocks' | 'inlineCode'>): string[][] {
  const texts = [
    ...blocks
      .filter(({ language }) => shells.includes(language))
      .flatMap(({ language, text }) => linesOf(language, text)),
    // With an ellipsis or a choice in it, it is a sketch; with one word only, the name of a command.
    ...inlineCode.filter((text) => !/…|\.\.\.|\[|\|/.test(text) && !/^crawlnode \w+$/.test(text)),
  ];
  return texts.flatMap(commandsIn);
}

/** Of a console only what is typed; lines that go on are joined. */
function linesOf(language: string, text: string): string[] {
  const lines = text
    .replace(/\\\n\s*/g, ' ')
    // Airflow's templates are filled in before the shell sees them.
    .replace(/\{\{.*?\}\}/g, 'filled-in')
    .split('\n');
  return language === 'console'
    ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
    : lines;
}

function commandsIn(line: string): string[][] {
  const found: string[][] = [];
  for (const match of line.matchAll(/(?:^|[\s;&|("'`/=])(?:npx )?crawlnode (?=[a-z-])/g)) {
    const words = wordsUntilEnd(line.slice(match.index + match[0].length));
    // `ENTRYPOINT crawlnode` and `docker build -t crawlnode .` run no command of ours.
    if (
      words.length > 0 &&
      !/\b(docker (build|run)|image:|useradd|chown|systemctl|journalctl|npm)\b[^;&|]*$/.test(
        line.slice(0, match.index + 1),
      )
    )
      found.push(words);
  }
  return found;
}

/** Words of one command, until what ends it in a shell: `|`, `;`, `&`, `)`, `>`, a comment. */
function wordsUntilEnd(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1);
      // A quote that is not closed here was opened before the command.
      if (end === -1) break;
      word = (word ?? '') + text.slice(at + 1, end);
      at = end;
    } else if (char === '$' && text[at + 1] === '(') {
      const end = text.indexOf(')', at);
      word = `${word ?? ''}substituted`;
      at = end === -1 ? text.length : end;
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (/[|;&)>`]/.test(char) || (char === '#' && word === null)) {
      break;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

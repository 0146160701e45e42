/** The commands of the twelve questions in docs/guide/monitoring.md run, and show what the guide says to look at. */
import { expect, it } from 'vitest';
import { pages } from '../../docs/pages.js';
import { nodeFacts } from '../../frontier-contract/telemetry-examples.js';
import { commit, failed, request, takeOne } from '../../frontier-contract/world.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { describeBeside, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';

const guide = pages.find(({ file }) => file === 'docs/guide/monitoring.md')!.text;
const section = guide.split('\n## Twelve questions\n')[1]!.split('\n## ')[0]!;
const questions = [...section.matchAll(/^\| ([^|]*\?) \| `crawlnode ([^`]*)` \| (.*) \|$/gm)];

describeBeside('the twelve questions of the guide', () => {
  const here = projectOn('embedded', {
    files: {
      'spiders/shop.ts': `import { Spider } from 'crawlnode';
export default class extends Spider { name = 'shop'; parse() {} }
`,
    },
  });

  it('each have a command, which shows what to look at', async () => {
    expect(questions).toHaveLength(12);
    await here.look(async (frontier) => {
      const { incarnation } = await joinAs(frontier);
      await frontier.push([request('a'), request('b')], 'links');
      await commit(frontier, await takeOne(frontier), failed());
      const domains = [['a.example', { p: 1, ftimeout: 1, s403: 1 }]] as const;
      await frontier.telemetry.report(incarnation, { sequence: 1, node: nodeFacts, domains, events: [] });
      await frontier.control('paused', 'ann@desk');
    }, 'shop');
    const words: Readonly<Record<string, RegExp>> = {
      '--domains': /P95 +ANSWERS.*DELAY\n *a\.example .*403 ×1/,
      '--events': /paused by ann@desk/,
      summary: /timeout/,
      'stats shop': /limited by +paused/,
      stats: /MEMORY/,
    };
    for (const [, question, command] of questions) {
      // A live view and an empty history have no text here: tests of their own show them.
      if (/--watch|--history/.test(command!)) continue;
      const { code, stdout } = await runHere(command!.split(' '), { cwd: here.project.dir });
      expect(code, question).toBe(0);
      const key = Object.keys(words).find((word) => command!.includes(word))!;
      expect(stdout, question).toMatch(words[key]!);
    }
  });
});

/** `crawlnode completion SHELL`: a script for the user's shell, which asks crawlnode what to offer at each Tab. */
import { Argument, type Command } from 'commander';
import type { CliCommand, CommandTable } from '../command.js';
import { completeWords } from '../completion/complete.js';
import { projectSpiders } from '../completion/project-spiders.js';
import { scripts } from '../completion/scripts.js';
import { print } from '../context.js';

const help = `
Prints a script that completes commands, options and their values, settings and the names of spiders with the Tab key. At each
Tab the script asks "crawlnode completion words" what to offer. "spiders" prints the names of the project's spiders: they are
read from the text of the modules, and no code of the project runs.

Put one of these lines into the settings of your shell:
  bash, in ~/.bashrc:   source <(crawlnode completion bash)
  zsh, in ~/.zshrc, behind compinit:   source <(crawlnode completion zsh)
  fish, once:   crawlnode completion fish > ~/.config/fish/completions/crawlnode.fish

Examples:
  crawlnode completion bash > ~/.local/share/bash-completion/completions/crawlnode
  crawlnode completion zsh > ~/.zsh/functions/_crawlnode
  crawlnode completion words -- crawl shop --max-`;

/** @param commands the table of all commands */
export function completionOf(commands: CommandTable): CliCommand {
  return {
    define: (command: Command) =>
      void command
        .addArgument(
          new Argument('<shell>', 'the shell that the script is for').choices([
            ...Object.keys(scripts),
            ...['words', 'spiders'],
          ]),
        )
        .argument('[word...]', 'of "words": what was typed behind "crawlnode"')
        .addHelpText('after', help),
    run: async (context, [shell = '', ...words]) => {
      if (shell === 'words') await completeWords(context, commands, words);
      else if (shell === 'spiders') for (const name of await projectSpiders(context)) print(context, name);
      else print(context, scripts[shell]!);
      return 0;
    },
  };
}

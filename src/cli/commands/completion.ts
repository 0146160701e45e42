/** `crawlnode completion SHELL`: a script for the user's shell, made from the declarations of all commands. */
import { Argument, type Command } from 'commander';
import type { CliCommand } from '../command.js';
import { bashScript } from '../completion/bash.js';
import { type CommandTable, commandTree } from '../completion/command-tree.js';
import { fishScript } from '../completion/fish.js';
import { zshScript } from '../completion/zsh.js';
import { print } from '../context.js';
import { createProgram } from '../program.js';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

const help = `
Prints a script that completes commands, options and their values with the Tab key. The names of spiders are those of the
files in spiders/ of the working folder. Write the script again after an update of crawlnode.

Put one of these lines into the settings of your shell:
  bash, in ~/.bashrc:   source <(crawlnode completion bash)
  zsh, in ~/.zshrc, behind compinit:   source <(crawlnode completion zsh)
  fish, once:   crawlnode completion fish > ~/.config/fish/completions/crawlnode.fish

Examples:
  crawlnode completion bash > ~/.local/share/bash-completion/completions/crawlnode
  crawlnode completion zsh > ~/.zsh/functions/_crawlnode`;

/** @param commands the table of all commands */
export function completionOf(commands: CommandTable): CliCommand {
  return {
    define: (command: Command) =>
      void command
        .addArgument(
          new Argument('<shell>', 'the shell that the script is for').choices(Object.keys(scripts)),
        )
        .addHelpText('after', help),
    run: async (context, [shell = '']) => {
      const program = createProgram(context, () => {});
      const script = scripts[shell as keyof typeof scripts](await commandTree(program, commands));
      print(context, script.trimEnd());
      return 0;
    },
  };
}

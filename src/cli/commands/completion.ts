/** `crawlnode completion SHELL`: a script for the user's shell, made from the declarations of all commands. */
import { Argument, type Command } from 'commander';
import type { CliCommand } from '../command.js';
import type { CommandTable } from '../completion/command-tree.js';
import { print } from '../context.js';
import { createProgram } from '../program.js';

const scripts = {
  bash: async () => (await import('../completion/bash.js')).bashScript,
  zsh: async () => (await import('../completion/zsh.js')).zshScript,
  fish: async () => (await import('../completion/fish.js')).fishScript,
} as const;

const help = `
Prints a script that completes commands, options and their values, settings and the names of spiders with the Tab key.
Write the script again after an update of crawlnode. "spiders" prints the names of the project's spiders, which the script
asks for: they are read from the text of the modules, and no code of the project runs.

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
          new Argument('<shell>', 'the shell that the script is for').choices([
            ...Object.keys(scripts),
            'spiders',
          ]),
        )
        .addHelpText('after', help),
    run: async (context, [shell = '']) => {
      if (shell === 'spiders') {
        const { projectSpiders } = await import('../completion/project-spiders.js');
        for (const name of await projectSpiders(context)) print(context, name);
        return 0;
      }
      const program = createProgram(context, () => {});
      const { commandTree } = await import('../completion/command-tree.js');
      const scriptOf = await scripts[shell as keyof typeof scripts]();
      print(context, scriptOf(await commandTree(program, commands)).trimEnd());
      return 0;
    },
  };
}

import { Argument, type Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const addCompletion: AddCommand = (program, cli) => {
  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  $ source <(capstan completion bash)      # in ~/.bashrc
  $ source <(capstan completion zsh)       # in ~/.zshrc, after compinit
  $ capstan completion fish > ~/.config/fish/completions/capstan.fish`,
    )
    .action((shell: (typeof SHELLS)[number], _options: object, command: Command) =>
      cli.run(command, async (session) => {
        const [{ describeProgram }, { renderCompletion }] = await Promise.all([
          import('../describe-program.js'),
          import('../completion/render-completion.js'),
        ]);
        await session.out.write(renderCompletion(shell, describeProgram(await cli.program())));
        return EXIT.success;
      }),
    );
};

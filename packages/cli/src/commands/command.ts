import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { parseDuration } from '../parse/duration.js';
import { printOutcome } from '../print-outcome.js';
import type { Session } from '../session.js';

type Options = { session?: string; wait: number };

const DEFAULT_WAIT_MS = 60_000;

export const addCommand: AddCommand = (program, cli) => {
  program
    .command('command')
    .description('run a slash command of an extension')
    .argument('<text...>', 'the command line, such as "/text words \'one two\'"; /help lists all commands')
    .option('--session <id>', 'session of the call; `explain last_response` refers to it')
    .option('--wait <time>', 'stop waiting after this time; the command continues', parseDuration, DEFAULT_WAIT_MS)
    .addHelpText(
      'after',
      `
Examples:
  $ capstan command /help
  $ capstan command "/text words 'one two three'"
  $ capstan command "/postman get https://example.com" --session demo`,
    )
    .action((words: string[], options: Options, command: Command) =>
      cli.run(command, (session) => run(session, words.join(' '), options)),
    );
};

const run = async (session: Session, text: string, options: Options): Promise<ExitCode> => {
  const client = await session.client();
  const { signal } = session;
  const answer = await client.command(
    { text, ...(options.session === undefined ? {} : { session_id: options.session }) },
    { wait_s: options.wait / 1000, signal },
  );
  if (!('kind' in answer)) return printOutcome(session, answer);
  if (session.json) await session.printJson(answer);
  else await session.out.line(answer.text);
  return EXIT.success;
};

import type { Answers, Hold, JsonObject } from '@capstan/contracts';
import type { Command } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import type { ExitCode } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { decline?: boolean };

export const addAnswer: AddCommand = (program, cli) => {
  program
    .command('answer')
    .description('answer what the tool of a held call asks')
    .argument('<id>', 'hld_…')
    .argument('[key]', 'which question; not needed where there is one')
    .argument('[content]', 'the filled-in form as JSON: {"name": "Ada"}')
    .option('--decline', 'tell the tool that nobody answers this')
    .action((id: string, key: string | undefined, content: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => answer(session, id, key, content, options)),
    );
};

async function answer(
  session: Session,
  id: string,
  first: string | undefined,
  second: string | undefined,
  { decline = false }: Options,
): Promise<ExitCode> {
  const { holds } = await session.client();
  const answerOne = async (hold_id: string): Promise<Hold> => {
    const { question } = await holds.get(hold_id);
    const keys = Object.keys(question?.requests ?? {});
    if (keys.length === 0) throw new UsageError(`${hold_id} asks nothing`, 'Release or reject it.');
    // With one question its key may be left out.
    const isKey = first !== undefined && keys.includes(first);
    const key = isKey ? first : keys.length === 1 ? keys[0] : undefined;
    if (key === undefined) throw new UsageError('which question?', `It asks ${keys.join(', ')}.`);
    const text = isKey ? second : first;
    const answers: Answers = { [key]: decline ? { action: 'decline' } : { action: 'accept', content: form(text) } };
    return holds.release(hold_id, { answers });
  };
  const { colors } = session.out;
  return actOnEach(session, [id], answerOne, (hold) => formatHoldOutcome(hold, colors));
}

function form(text: string | undefined): JsonObject {
  const usage = () => new UsageError('the answer is missing', 'Give the form as JSON: {"name": "Ada"}, or --decline.');
  if (text === undefined) throw usage();
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw usage();
}

import type { Answers, Hold, JsonObject } from '@capstan/contracts';
import type { Command } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import type { ExitCode } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { parseJsonObject } from '../parse/json-object.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { decline?: boolean };

export const addAnswer: AddCommand = (program, cli) => {
  program
    .command('answer')
    .description('answer a question that a tool asks through a hold')
    .argument('<id>', 'hold id (hld_…)')
    .argument('[key]', 'which question; optional if there is only one')
    .argument('[content]', 'the filled-in form as JSON: {"name": "Ada"}')
    .option('--decline', 'decline to answer this question')
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
    if (keys.length === 0)
      throw new UsageError(`${hold_id} has no question to answer`, 'Release or reject it instead.');
    // The key is optional if there is only one question.
    const isKey = first !== undefined && keys.includes(first);
    const key = isKey ? first : keys.length === 1 ? keys[0] : undefined;
    if (key === undefined)
      throw new UsageError(`${hold_id} has several questions`, `Name one of them: ${keys.join(', ')}.`);
    const text = isKey ? second : first;
    const answers: Answers = {
      [key]: decline ? { action: 'decline' } : { action: 'accept', content: parseForm(text) },
    };
    return holds.release(hold_id, { answers });
  };
  const { colors } = session.out;
  return actOnEach(session, [id], answerOne, (hold) => formatHoldOutcome(hold, colors));
}

const EXAMPLE = 'Pass the form as JSON, like {"name": "Ada"}, or --decline.';

function parseForm(text: string | undefined): JsonObject {
  if (text === undefined) throw new UsageError('the answer is missing', EXAMPLE);
  return parseJsonObject(text, 'answer', EXAMPLE);
}

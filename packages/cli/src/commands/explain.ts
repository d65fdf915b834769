import type { ExplainRequest, Role } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT_OF_EFFECT, type ExitCode } from '../exit-code.js';
import { formatExplanation } from '../format/explanation.js';
import { parseLabel } from '../parse/label.js';
import { parseMode, parseRoles } from '../parse/words.js';
import { readPolicyFile } from '../read-policy-file.js';
import { readToolInputs } from '../read-tool-inputs.js';
import type { Session } from '../session.js';

type Options = {
  policy?: string;
  label?: Record<string, string>;
  mode?: 'execution' | 'planning';
  session?: string;
  actor?: string;
  role?: Role[];
};

export const addExplain: AddCommand = (program, cli) => {
  program
    .command('explain')
    .description('explain what policy decides about a call, rule by rule')
    .argument('<tool_id>', 'tool id, from `capstan tools`')
    .argument('[inputs...]', 'name=value pairs, a JSON object, @file, or - for stdin')
    .option('--policy <file>', 'draft to use instead of the current policy')
    .option('-l, --label <key=value>', 'label of the call (repeatable)', parseLabel)
    .option('--mode <mode>', 'execution or planning', parseMode)
    .option('--session <id>', 'session of the call')
    .option('--actor <name>', 'decide as if this actor called')
    .option('--role <roles>', 'decide as if the caller had these roles (comma-separated)', parseRoles)
    .addHelpText(
      'after',
      `
Examples:
  $ capstan explain shell.run '{"cmd": ["git", "status"]}'
  $ capstan explain cap:web_fetch:web_fetch url=https://example.com/
  $ capstan explain ext:billing:refund '{"amount": 250}' --policy draft.yaml --label env=prod`,
    )
    .action((tool_id: string, inputs: string[], options: Options, command: Command) =>
      cli.run(command, async (session) => explain(session, await toRequest(session, tool_id, inputs, options))),
    );
};

const toRequest = async (
  session: Session,
  tool_id: string,
  words: readonly string[],
  { policy, label, mode, session: session_id, actor, role }: Options,
): Promise<ExplainRequest> => ({
  tool_id,
  inputs: await readToolInputs(session, tool_id, words),
  labels: label,
  mode,
  session_id,
  actor,
  roles: role,
  policy: policy === undefined ? undefined : await readPolicyFile(session, policy),
});

const explain = async (session: Session, request: ExplainRequest): Promise<ExitCode> => {
  const client = await session.client();
  const explanation = await client.policies.explain(request);
  if (session.json) await session.printJson(explanation);
  else await session.out.line(formatExplanation(request.tool_id, explanation, session.out).join('\n'));
  return EXIT_OF_EFFECT[explanation.effect];
};

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ExplainRequest, Role } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT_OF_EFFECT, type ExitCode } from '../exit-code.js';
import { formatExplanation } from '../format/explanation.js';
import { readInputs } from '../parse/inputs.js';
import { parseLabel } from '../parse/label.js';
import { parseMode, parseRoles } from '../parse/words.js';
import { readPolicyFile } from '../read-policy-file.js';
import { readStdin } from '../read-stdin.js';
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
    .description('what policy says of a call and why, rule by rule; nothing runs and nothing is recorded')
    .argument('<tool_id>', 'which tool')
    .argument('[inputs]', 'a JSON object, @file, or - for stdin')
    .option('--policy <file>', 'a draft, in place of the policy in force')
    .option('-l, --label <key=value>', 'a label of the call (may be given again)', parseLabel)
    .option('--mode <mode>', 'execution or planning', parseMode)
    .option('--session <id>', 'the session of the call')
    .option('--actor <name>', 'as if somebody else called')
    .option('--role <roles>', 'as if who calls had these roles (several with commas)', parseRoles)
    .addHelpText(
      'after',
      `
Examples:
  $ capstan explain shell.run '{"cmd": ["git", "status"]}'
  $ capstan explain ext:billing:refund '{"amount": 250}' --policy draft.yaml --label env=prod`,
    )
    .action((tool_id: string, inputs: string | undefined, options: Options, command: Command) =>
      cli.run(command, async (session) => explain(session, await toRequest(session, tool_id, inputs, options))),
    );
};

const toRequest = async (
  session: Session,
  tool_id: string,
  argument: string | undefined,
  { policy, label, mode, session: session_id, actor, role }: Options,
): Promise<ExplainRequest> => ({
  tool_id,
  inputs: await readInputs(argument, {
    readStdin: () => readStdin(session),
    readFile: (path) => readFile(resolve(session.cwd, path), 'utf8'),
  }),
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

import type { ToolQuery } from '@capstan/client';
import type { Descriptor } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatFields, indent } from '../format/fields.js';
import { formatRisk } from '../format/risk.js';
import { parseRunner } from '../parse/words.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';

type Options = Pick<ToolQuery, 'runner'>;

export const addTools: AddCommand = (program, cli) => {
  program
    .command('tools')
    .description('find tools; with a tool id, what it takes')
    .argument('[words or tool_id]', 'words to look for, or one tool id')
    .option('-r, --runner <type>', 'of this runner type', parseRunner)
    .action((words: string | undefined, { runner }: Options, command: Command) =>
      cli.run(command, (session) =>
        words !== undefined && /^\w+:.+:/.test(words)
          ? printTool(session, words)
          : printTools(session, { q: words, runner }),
      ),
    );
};

const printTools = async (session: Session, query: ToolQuery): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  await printItems<Descriptor>(session, client.tools.list(query), {
    empty: 'No tool matches. `capstan tools` lists all of them.',
    columns: [
      { title: 'TOOL', text: ({ tool_id }) => tool_id },
      { title: 'RUNNER', text: ({ runner }) => runner },
      { title: 'RISK', text: ({ risk }) => risk, paint: (text, { risk }) => formatRisk(risk, text, colors) },
      { title: 'DESCRIPTION', text: ({ description }) => description, shrinks: true },
    ],
  });
  return EXIT.success;
};

const printTool = async (session: Session, tool_id: string): Promise<ExitCode> => {
  const client = await session.client();
  const tool = await client.tools.get(tool_id);
  if (session.json) {
    await session.printJson(tool);
    return EXIT.success;
  }
  const { out } = session;
  const effects = Object.entries(tool.effects).flatMap(([name, yes]) => (yes ? [name] : []));
  const lines = [
    `${out.colors.bold(tool.tool_id)}  ${tool.description}`,
    ...formatFields(
      [
        ['runner', tool.runner],
        ['source', tool.source],
        ['risk', formatRisk(tool.risk, tool.risk, out.colors)],
        ['side effects', tool.side_effects.join(', ') || 'none'],
        ['is', effects.join(', ')],
      ],
      out.colors,
    ),
    '',
    out.colors.bold('inputs'),
    indent(JSON.stringify(tool.input_schema, null, 2)),
  ];
  await out.line(lines.join('\n'));
  return EXIT.success;
};

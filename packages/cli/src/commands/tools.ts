import type { ToolQuery } from '@capstan/client';
import type { Risk, SideEffect, Tool, ToolSource, Trust } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatFields } from '../format/fields.js';
import { exampleOf, formatInputs } from '../format/input-schema.js';
import { wrapProse } from '../format/width.js';
import type { Colors } from '../output.js';
import { choice, choices } from '../parse/choice.js';
import { parseRunners } from '../parse/words.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';

type Options = {
  runner?: ToolQuery['runner'];
  source?: ToolSource[];
  riskMax?: Risk;
  trustMin?: Trust;
  without?: SideEffect[];
};

/** The enums of the contracts, repeated here because importing the schemas would load zod at every start. */
const SOURCE: Record<ToolSource, true> = {
  capability: true,
  extension: true,
  mcp: true,
  atip: true,
  openapi: true,
  core: true,
  app: true,
};
const RISK: Record<Risk, true> = { LOW: true, MED: true, HIGH: true, CRITICAL: true };
const TRUST: Record<Trust, true> = {
  native: true,
  vendor: true,
  org: true,
  community: true,
  user: true,
  inferred: true,
};
const SIDE_EFFECT: Record<SideEffect, true> = {
  'fs.read': true,
  'fs.write': true,
  'fs.delete': true,
  'fs.chmod': true,
  'network.http': true,
  'network.socket': true,
  'network.dns': true,
  'cloud.key_read': true,
  'cloud.key_write': true,
  'cloud.resource_create': true,
  'cloud.resource_delete': true,
  payments: true,
  'system.exec': true,
  'system.env': true,
  'database.read': true,
  'database.write': true,
  'database.delete': true,
};

export const addTools: AddCommand = (program, cli) => {
  const tools = program
    .command('tools')
    .description('search tools, or show one by its id')
    .argument('[words or tool_id...]', 'words to search for, or a tool id')
    .option('-r, --runner <types>', 'only of these runner types (comma-separated)', parseRunners)
    .option(
      '-s, --source <sources>',
      'only from capability, extension, mcp, atip, openapi, core or app',
      choices(SOURCE),
    )
    .option('--risk-max <risk>', 'at most this risk: LOW, MED, HIGH or CRITICAL', choice(RISK))
    .option(
      '--trust-min <level>',
      'at least this trust: native, vendor, org, community, user or inferred',
      choice(TRUST),
    )
    .option('--without <side effects>', 'only without these side effects (comma-separated)', choices(SIDE_EFFECT))
    .action((words: string[], options: Options, command: Command) =>
      cli.run(command, (session) => {
        const asked = words.join(' ');
        return isId(asked) ? printTool(session, asked) : printTools(session, toQuery(asked, options));
      }),
    );
  tools
    .command('refresh')
    .description('reload the tool catalog in all processes')
    .action((_options: object, command: Command) => cli.run(command, refresh));
};

const isId = (text: string): boolean => /^\w+:[^:]+:/.test(text) || /^\w+\.\w+$/.test(text);

const toQuery = (words: string, { runner, source, riskMax, trustMin, without }: Options): ToolQuery => ({
  q: words === '' ? undefined : words,
  runner,
  source,
  risk_max: riskMax,
  trust_min: trustMin,
  exclude_side_effects: without,
});

const printTools = async (session: Session, query: ToolQuery): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  await printItems<Tool>(session, client.tools.list(query), {
    empty: 'No tools match. `capstan tools` lists all tools.',
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
  const lines = [
    wrapProse(`${out.colors.bold(tool.tool_id)}  ${tool.description}`, 2, out),
    ...formatFields(
      [
        ['unavailable', tool.unavailable === null ? null : out.colors.red(tool.unavailable)],
        ['runner', tool.runner],
        ['source', `${tool.source} ${tool.origin}`],
        ['trust', tool.trust],
        ['risk', formatRisk(tool.risk, tool.risk, out.colors)],
        ['side effects', tool.side_effects.join(', ') || 'none'],
        ['effects', effectsOf(tool).join(', ')],
        ...tool.inferred.map(({ field, why }): [string, string] => ['inferred', `${field}: ${why}`]),
      ],
      out,
    ),
    '',
    out.colors.bold('inputs'),
    formatInputs(tool.input_schema, { colors: out.colors, columns: out.tty ? out.columns : null }),
    '',
    out.colors.dim(`Try: capstan invoke ${tool.tool_id} '${JSON.stringify(exampleOf(tool.input_schema))}'`),
  ];
  await out.line(lines.join('\n'));
  return EXIT.success;
};

const effectsOf = ({ effects: { filesystem, ...effects } }: Tool): string[] => [
  ...Object.entries(effects).flatMap(([name, yes]) => (yes === true ? [name] : [])),
  ...Object.entries(filesystem).flatMap(([name, yes]) => (yes ? [`filesystem.${name}`] : [])),
];

const refresh = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const refreshed = await client.tools.refresh();
  if (session.json) {
    await session.printJson(refreshed);
    return EXIT.success;
  }
  const { out, err } = session;
  await out.line(`${out.colors.green('✓')} ${refreshed.tools} tools from ${refreshed.sources.length} sources`);
  for (const { source, origin, error } of refreshed.sources)
    if (error !== null) await err.line(err.colors.yellow(`  ${source} ${origin}: ${error}`));
  return refreshed.sources.some(({ status }) => status === 'error') ? EXIT.failed : EXIT.success;
};

const PAINT: Record<Risk, 'green' | 'yellow' | 'red' | 'magenta'> = {
  LOW: 'green',
  MED: 'yellow',
  HIGH: 'red',
  CRITICAL: 'magenta',
};

const formatRisk = (risk: Risk, text: string, colors: Colors): string => colors[PAINT[risk]](text);

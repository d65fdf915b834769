import type { Agent, Capability, Provider } from '@capstan/contracts';
import type { Command } from 'commander';
import { type AgentOptions, readAgentFields } from '../agent/read-agent-fields.js';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatFields, indent } from '../format/fields.js';
import { relativeTime } from '../format/relative-time.js';
import { choice } from '../parse/choice.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { removeEach } from '../remove-each.js';
import { resolveName } from '../resolve-name.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

const PROVIDERS: Record<Provider, true> = { openai: true, openai_responses: true, anthropic: true, gemini: true };

export const addAgents: AddCommand = (program, cli) => {
  const agents = program
    .command('agents')
    .description('manage agents, and print what to send to a model for one')
    .action((_options: object, command: Command) => cli.run(command, printAgents));
  agents
    .command('list')
    .description('list agents')
    .action((_options: object, command: Command) => cli.run(command, printAgents));
  agents
    .command('show')
    .description('show an agent')
    .argument('<agent>', 'agent id or name')
    .action((id: string, _options: object, command: Command) =>
      cli.run(command, async (session) => showAgent(session, await resolveName(session, 'agent', id))),
    );
  withFields(
    agents.command('create').description('create an agent').argument('[name]', 'name of the agent'),
    'the agent as a JSON file',
  ).action((name: string | undefined, fields: AgentOptions, command: Command) =>
    cli.run(command, (session) => createAgent(session, name, fields)),
  );
  withFields(
    agents.command('change').description('change fields of an agent').argument('<agent>', 'agent id or name'),
    'the changed fields as a JSON file',
  )
    .option('--name <name>', 'a new name')
    .action((id: string, fields: AgentOptions, command: Command) =>
      cli.run(command, async (session) => changeAgent(session, await resolveName(session, 'agent', id), fields)),
    );
  agents
    .command('delete')
    .description('delete agents')
    .argument('<agent...>', 'agent ids or names')
    .action((ids: string[], _options: object, command: Command) =>
      cli.run(command, (session) => deleteAgents(session, ids)),
    );
  agents
    .command('runtime')
    .description('print the system prompt and tools to send to a model, as JSON')
    .argument('<agent>', 'agent id or name')
    .option(
      '-p, --provider <name>',
      `format of the tools: ${Object.keys(PROVIDERS).join(', ')}`,
      choice(PROVIDERS),
      'openai',
    )
    .action((id: string, { provider }: { provider: Provider }, command: Command) =>
      cli.run(command, async (session) => printRuntime(session, await resolveName(session, 'agent', id), provider)),
    );
  agents
    .command('capabilities')
    .description('list the capabilities that agents can have')
    .action((_options: object, command: Command) => cli.run(command, printCapabilities));
};

const several = (value: string, before: string[] = []): string[] => [...before, ...value.split(',')];

const withFields = (command: Command, file: string): Command =>
  command
    .option('--prompt <text>', 'system prompt of the agent')
    .option('-c, --capability <ids>', 'capabilities, in order (comma-separated)', several)
    .option('-t, --tool <ids>', 'additional tools, by id or glob (comma-separated)', several)
    .option('--deny-tool <ids>', 'tools the agent may not call (comma-separated)', several)
    .option('--config <json>', 'configuration by capability, as JSON')
    .option('-f, --file <file>', `${file}; - for stdin`);

const printAgents = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Agent>(session, client.agents.list(), {
    empty: 'There are no agents. Create one with `capstan agents create helper -c current_time,test_math`.',
    columns: [
      { title: 'AGENT', text: ({ agent_id }) => agent_id },
      { title: 'NAME', text: ({ name }) => name },
      { title: 'CAPABILITIES', text: ({ capabilities }) => capabilities.join(','), shrinks: true },
      { title: 'CHANGED', text: ({ updated_at }) => relativeTime(updated_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const showAgent = async (session: Session, agent_id: string): Promise<ExitCode> => {
  const client = await session.client();
  const agent = await client.agents.get(agent_id);
  if (session.json) await session.printJson(agent);
  else await session.out.line(describe(session, agent));
  return EXIT.success;
};

const describe = ({ out }: Session, agent: Agent): string =>
  [
    `${out.colors.bold(agent.name)}  ${agent.agent_id}`,
    ...formatFields(
      [
        ['capabilities', agent.capabilities.join(', ') || 'none'],
        ['tools', agent.tools.join(', ') || 'those of the capabilities'],
        ['denied tools', agent.deny_tools.join(', ') || 'none'],
        ['config', JSON.stringify(agent.config)],
        ['status', `${agent.status}, version ${agent.version}`],
      ],
      out,
    ),
    ...(agent.system_prompt ? ['', out.colors.bold('system prompt'), indent(agent.system_prompt)] : []),
  ].join('\n');

const createAgent = async (session: Session, name: string | undefined, options: AgentOptions): Promise<ExitCode> => {
  const { name: named, ...fields } = await readAgentFields(session, { name, ...options });
  if (named === undefined)
    throw new UsageError('an agent needs a name', 'Pass it as an argument, or as "name" in the file.');
  const client = await session.client();
  const created = await client.agents.create({ name: named, ...fields });
  await printDone(session, created, `${created.agent_id}  ${created.name}`);
  return EXIT.success;
};

const changeAgent = async (session: Session, agent_id: string, options: AgentOptions): Promise<ExitCode> => {
  const change = await readAgentFields(session, options);
  const client = await session.client();
  const changed = await client.agents.change(agent_id, change);
  await printDone(session, changed, `${agent_id} is now version ${changed.version}`);
  return EXIT.success;
};

const deleteAgents = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, ids, {
    field: 'agent_id',
    done: 'deleted',
    remove: (id) => client.agents.delete(id),
    resolve: (_, text) => resolveName(session, 'agent', text),
  });
};

const printRuntime = async (session: Session, agent_id: string, provider: Provider): Promise<ExitCode> => {
  const client = await session.client();
  await session.printJson(await client.agents.runtime(agent_id, provider));
  return EXIT.success;
};

const printCapabilities = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Capability>(session, client.capabilities.list(), {
    empty: 'There are no capabilities.',
    columns: [
      { title: 'CAPABILITY', text: ({ id }) => id },
      { title: 'VERSION', text: ({ version }) => version },
      { title: 'STATUS', text: ({ status }) => status },
      { title: 'TOOLS', text: ({ tools }) => String(tools.length) },
      { title: 'DESCRIPTION', text: ({ description }) => description, shrinks: true },
    ],
  });
  return EXIT.success;
};

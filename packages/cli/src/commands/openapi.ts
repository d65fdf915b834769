import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Descriptor, InstalledOpenApi, JsonObject, NewOpenApi } from '@capstan/contracts';
import { readYaml } from '@capstan/expression';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatChanges } from '../format/changes.js';
import { printItems } from '../print-items.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type AddOptions = {
  name?: string;
  baseUrl?: string;
  auth?: string[];
  include?: string[];
  exclude?: string[];
  dryRun?: boolean;
};

const FETCH_MS = 30_000;
const MAX_CHARACTERS = 20_000_000;

export const addOpenApi: AddCommand = (program, cli) => {
  const openapi = program
    .command('openapi')
    .description('OpenAPI documents as a source of tools: list, add, remove')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  openapi
    .command('list')
    .description('every document that was added')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  openapi
    .command('add')
    .description('the operations of a document become tools, openapi:<name>:<operation>')
    .argument('<file|url>', 'OpenAPI 3.0 or 3.1 as JSON or YAML; - is stdin')
    .option('--name <name>', 'what the tools are called by; from the title without it')
    .option('--base-url <url>', 'where the API is, in place of the servers that the document names')
    .option('--auth <secret...>', 'secret://name for every security scheme, or <scheme>=secret://name')
    .option('--include <pattern...>', 'only operations whose name, "METHOD /path" or tag matches; * is any part')
    .option('--exclude <pattern...>', 'operations to leave out, in the same way')
    .option('--dry-run', 'print the tools, and keep nothing')
    .action((source: string, options: AddOptions, command: Command) =>
      cli.run(command, (session) => add(session, source, options)),
    );
  openapi
    .command('remove')
    .description('forget documents and their tools')
    .argument('<name...>')
    .action((names: string[], _options: object, command: Command) =>
      cli.run(command, (session) => remove(session, names)),
    );
};

const printDocuments = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<InstalledOpenApi>(session, client.openApis.list(), {
    empty: 'No OpenAPI document was added. Add one with `capstan openapi add <file|url>`.',
    columns: [
      { title: 'NAME', text: ({ name }) => name },
      { title: 'VERSION', text: ({ version }) => version },
      { title: 'TOOLS', text: ({ tools }) => String(tools.length), align: 'right' },
      { title: 'BASE URL', text: ({ base_url }) => base_url },
      { title: 'TITLE', text: ({ title }) => title, shrinks: true },
    ],
  });
  return EXIT.success;
};

const add = async (session: Session, source: string, options: AddOptions): Promise<ExitCode> => {
  const sent = toRequest(await readDocument(session, source), options);
  const client = await session.client();
  const { out, err } = session;
  if (options.dryRun) {
    const { tools, ...preview } = await client.openApis.preview(sent);
    if (session.json) await session.printJson({ ...preview, tools });
    else for (const tool of tools) await out.line(describe(session, tool));
    await warn(session, preview.warnings);
    return EXIT.success;
  }
  const added = await client.openApis.add(sent);
  if (session.json) await session.printJson(added);
  else await out.line(`${out.colors.green('✓')} ${added.name} ${added.version}: ${formatChanges(added.changes)}`);
  await warn(session, added.warnings);
  if (!session.json)
    await err.line(err.colors.dim(`  A policy has to allow them, for example: tool: "openapi:${added.name}:*"`));
  return EXIT.success;
};

const warn = async ({ err }: Session, warnings: readonly string[]): Promise<void> => {
  for (const warning of warnings) await err.line(err.colors.yellow(`  ${warning}`));
};

const describe = ({ out }: Session, { tool_id, risk, effects, binding }: Descriptor): string => {
  const request = binding.kind === 'request' ? `${binding.method} ${binding.url}` : '';
  const idempotent = effects.idempotent ? ', idempotent' : '';
  return `${tool_id}  ${out.colors.dim(`${risk}${idempotent}  ${request}`)}`;
};

const toRequest = (document: JsonObject, { name, baseUrl, auth, include, exclude }: AddOptions) => ({
  document,
  ...(name !== undefined && { name }),
  ...(baseUrl !== undefined && { base_url: baseUrl }),
  ...(auth !== undefined && { auth: readAuth(auth) }),
  ...(include !== undefined && { include }),
  ...(exclude !== undefined && { exclude }),
});

const readAuth = (words: readonly string[]): NonNullable<NewOpenApi['auth']> =>
  Object.fromEntries(
    words.map((word) => {
      const [, scheme = '*', secret] = /^(?:([^=]+)=)?(secret:\/\/.+)$/.exec(word) ?? [];
      if (secret === undefined)
        throw new UsageError(`--auth ${word}: expected secret://name or <scheme>=secret://name`);
      return [scheme, secret];
    }),
  );

const readDocument = async (session: Session, source: string): Promise<JsonObject> => {
  const text = await readSource(session, source);
  const { value, errors } = /^\s*\{/.test(text) ? readJson(text) : readYaml(text, MAX_CHARACTERS);
  if (errors[0]) throw new UsageError(`${source}: ${errors[0].message}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${source} is not an OpenAPI document`);
  return value as JsonObject;
};

const readJson = (text: string): { value: unknown; errors: { message: string }[] } => {
  try {
    return { value: JSON.parse(text), errors: [] };
  } catch (error) {
    return { value: null, errors: [{ message: error instanceof Error ? error.message : String(error) }] };
  }
};

const readSource = async (session: Session, source: string): Promise<string> => {
  if (source === '-') return readStdin(session);
  try {
    if (!/^https?:\/\//.test(source)) return await readFile(resolve(session.cwd, source), 'utf8');
    const response = await fetch(source, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.text();
  } catch (error) {
    throw new UsageError(`cannot read ${source}: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const remove = async (session: Session, names: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const name of names) {
    await client.openApis.remove(name);
    if (session.json) await session.printJson({ name, removed: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${name} removed`);
  }
  return EXIT.success;
};

import { type Descriptor, type InstalledOpenApi, isObject, type JsonObject, type NewOpenApi } from '@capstan/contracts';
import { readYaml } from '@capstan/expression';
import type { Command } from 'commander';
import { cannotRead } from '../cannot-read.js';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { parseJsonObject } from '../parse/json-object.js';
import { printAdded, printWarnings } from '../print-added.js';
import { printItems } from '../print-items.js';
import { readTextFile } from '../read-text-file.js';
import { removeEach } from '../remove-each.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type AddOptions = {
  name?: string;
  baseUrl?: string | undefined;
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
    .description('manage OpenAPI documents, whose operations become tools')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  openapi
    .command('list')
    .description('list OpenAPI documents')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  openapi
    .command('add')
    .description('add a document: its operations become tools, openapi:<name>:<operation>')
    .argument('<file|url>', 'OpenAPI 3.0 or 3.1, JSON or YAML; - for stdin')
    .option('--name <name>', 'name in the tool ids; by default from the title')
    .option('--base-url <url>', 'URL of the API, instead of the servers in the document')
    .option('--auth <secret...>', 'secret://name for every security scheme, or <scheme>=secret://name')
    .option(
      '--include <pattern...>',
      'only operations whose name, "METHOD /path" or tag matches; * matches any characters',
    )
    .option('--exclude <pattern...>', 'leave out operations that match')
    .option('--dry-run', 'print the tools without adding them')
    .action((source: string, options: AddOptions, command: Command) =>
      cli.run(command, (session) => add(session, source, options)),
    );
  openapi
    .command('remove')
    .description('remove documents and their tools')
    .argument('<name...>', 'document names')
    .action((names: string[], _options: object, command: Command) =>
      cli.run(command, (session) => remove(session, names)),
    );
};

const printDocuments = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<InstalledOpenApi>(session, client.openApis.list(), {
    empty: 'No OpenAPI documents. Add one with `capstan openapi add <file|url>`.',
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
  const document = await readDocument(session, source);
  const sent = toRequest(document, { baseUrl: addressBeside(source, document), ...options });
  const client = await session.client();
  const { out, err } = session;
  if (options.dryRun) {
    const { tools, ...preview } = await client.openApis.preview(sent);
    if (session.json) await session.printJson({ ...preview, tools });
    else for (const tool of tools) await out.line(describe(session, tool));
    await printWarnings(session, preview.warnings);
    return EXIT.success;
  }
  const added = await client.openApis.add(sent);
  await printAdded(session, added);
  if (!session.json)
    await err.line(err.colors.dim(`  Policy must allow these tools, for example with tool: "openapi:${added.name}:*"`));
  return EXIT.success;
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

/** A server such as `/api/v3` is on the host that the document comes from, and so is the API of a document that names no server. */
const addressBeside = (source: string, { servers }: JsonObject): string | undefined => {
  const [server] = Array.isArray(servers) ? servers : [];
  const url = isObject(server) && typeof server.url === 'string' && server.url !== '' ? server.url : '/';
  if (!isAddress(source) || isAddress(url) || url.includes('{')) return undefined;
  return URL.canParse(url, source) ? new URL(url, source).href : undefined;
};

const isAddress = (text: string): boolean => /^https?:\/\//.test(text);

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
  if (/^\s*\{/.test(text)) return parseJsonObject(text, source);
  const { value, errors } = readYaml(text, MAX_CHARACTERS);
  if (errors[0]) throw new UsageError(`${source}: ${errors[0].message}`);
  if (!isObject(value))
    throw new UsageError(
      `${source} is not an OpenAPI document`,
      'Name a JSON or YAML file, or the address of one, that begins with openapi: 3.x.',
    );
  return value;
};

const readSource = async (session: Session, source: string): Promise<string> => {
  if (!isAddress(source)) return readTextFile(session, source);
  try {
    const response = await fetch(source, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.text();
  } catch (error) {
    throw cannotRead(source, error);
  }
};

const remove = async (session: Session, names: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, names, {
    field: 'name',
    done: 'removed',
    remove: (name) => client.openApis.remove(name),
  });
};

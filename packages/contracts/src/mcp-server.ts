import { z } from 'zod';
import { Effects, Risk, Trust } from './descriptor.js';
import { JsonObject } from './json.js';

/** Part of tool ids (`mcp:<server>:<tool>`), so it contains no colon. */
export const McpServerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, 'letters, digits, dot, dash and underscore, 63 at most');

const Value = z
  .string()
  .max(32_768)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  .regex(/^[^\u0000-\u0008\u000a-\u001f\u007f]*$/, 'no control characters')
  // Other clients prompt for variables or look them up. A worker could only pass the text on unchanged.
  .refine((value) => !value.includes('${'), 'variables are not expanded here: name a secret with secret://name');
const few = (values: object) => Object.keys(values).length <= 100;
const Env = z.record(z.string().regex(/^[a-z_][a-z0-9_]{0,127}$/i, 'not the name of a variable'), Value).refine(few);
const Headers = z
  .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, 'not the name of a header'), Value)
  .refine(few);

const plainHttp = (text: string) => {
  const url = new URL(text);
  return url.username === '' && url.password === '' && url.hash === '';
};

/** What a server may request from the caller during a call. Questions to people are always allowed. */
export const McpAsk = z.enum(['sampling', 'roots']);
export type McpAsk = z.infer<typeof McpAsk>;

/** What a program may use of its machine besides a read-only system and a folder of its own. */
export const McpPermission = z.enum(['network', 'home', 'paths']);
export type McpPermission = z.infer<typeof McpPermission>;

const ToolChoice = z.strictObject({
  allow: z.array(z.string().min(1).max(256)).max(1000).optional(),
  deny: z.array(z.string().min(1).max(256)).max(1000).optional(),
});

const Fields = z.strictObject({
  name: McpServerName,
  command: z.string().min(1).max(4096).optional().describe('For stdio: the program to start'),
  args: z.array(z.string().max(32_768)).max(1000).optional(),
  env: Env.optional().describe('Values may be secret://name'),
  permissions: z
    .array(McpPermission)
    .optional()
    .describe(
      'Of a program in its sandbox: network, a home folder that it finds again, and writing to the folders it is given',
    ),
  paths: z
    .array(z.string().regex(/^\//, 'an absolute path').max(4096))
    .max(100)
    .optional()
    .describe('Folders that a program with the permission paths may write to, besides those in its arguments'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(4096)
    .refine((text) => URL.canParse(text) && plainHttp(text), 'no credentials and no fragment; headers carry those')
    .optional()
    .describe('For streamable HTTP: the endpoint'),
  headers: Headers.optional().describe('Values may be secret://name'),
  oauth: z
    .strictObject({
      client_id: z.string().min(1).max(2048).optional(),
      client_secret: z
        .string()
        .regex(/^secret:\/\//, 'name a secret: secret://name')
        .optional(),
      scope: z.string().min(1).max(2048).optional(),
    })
    .optional()
    .describe('For a manually registered client; without it, Capstan registers itself at the first login'),
  asks: z
    .array(McpAsk)
    .optional()
    .describe(
      'Features of the calling MCP client that the server may use: its model (sampling), its list of folders (roots)',
    ),
  tools: ToolChoice.optional().describe('The tools to use, by name or pattern; all by default'),
  task_support: z
    .record(z.string().min(1).max(256), z.enum(['optional', 'required']))
    .optional()
    .describe('Slow tools, by name or pattern: clients that support tasks get one for each call'),
  pin: z
    .boolean()
    .optional()
    .describe('Whether a tool with a changed description must be reviewed before it is used; true by default'),
  trust: Trust.exclude(['native']).optional().describe('By default derived from its tier'),
  timeout_ms: z.int().min(100).max(600_000).optional().describe('The timeout of one tool call'),
  enabled: z.boolean().optional(),
});

type Shape = z.infer<typeof Fields>;
const oneTransport = ({ command, url }: Shape) => (command === undefined) !== (url === undefined);
const belongTogether = ({ url, args, env, permissions, paths, headers }: Shape) =>
  url === undefined ? headers === undefined : [args, env, permissions, paths].every((field) => field === undefined);

export const NewMcpServer = Fields.refine(oneTransport, 'give either command (stdio) or url (streamable HTTP)').refine(
  belongTogether,
  'args, env, permissions and paths go with command, headers go with url',
);
export type NewMcpServer = z.infer<typeof NewMcpServer>;

/** A server by its name in the registry of the installation. Fields given here override those of the registry. */
export const RegistryServer = Fields.omit({ command: true, args: true, url: true })
  .partial({ name: true })
  .extend({
    registry: z
      .string()
      .max(256)
      .regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+\/[\w.-]+$/i, 'a name as registries have them: io.github.acme/files')
      .describe('Its name in the registry'),
  });
export type RegistryServer = z.infer<typeof RegistryServer>;

/** The fields to change. The transport cannot be changed. */
export const McpServerChange = Fields.omit({ name: true }).partial();
export type McpServerChange = z.infer<typeof McpServerChange>;

/** Where a server runs: on this machine, on a private network, or at a third party. */
export const McpTier = z.enum(['local', 'remote', 'cloud']);
export type McpTier = z.infer<typeof McpTier>;

/** A server as shown. Values of variables and headers are included only if they are references to secrets. */
export const McpServer = z.object({
  name: z.string(),
  transport: z.enum(['stdio', 'http']),
  command: z.string().nullable(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  permissions: z.array(McpPermission),
  paths: z.array(z.string()),
  asks: z.array(McpAsk),
  tool_choice: ToolChoice,
  pin: z.boolean(),
  url: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  tier: McpTier,
  trust: Trust,
  timeout_ms: z.int().nullable(),
  enabled: z.boolean(),
  /** pending: its first discovery has not finished. */
  status: z.enum(['ready', 'failing', 'pending', 'disabled']),
  tools: z.int(),
  prompts: z.int(),
  resources: z.int(),
  /** The newest protocol version it supports; null before its discovery. */
  protocol_version: z.string().nullable(),
  /** Tools with a changed description that wait for review. */
  changed: z.array(z.string()),
  /** True if it announced changed tools or could not be reached. Another discovery follows soon. */
  stale: z.boolean(),
  last_discovery: z.iso.datetime().nullable(),
  last_error: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type McpServer = z.infer<typeof McpServer>;

/** Who can use a login at a server: the whole tenant, or only the person who logged in. */
export const McpLoginRequest = z.strictObject({ per: z.enum(['tenant', 'actor']).default('tenant') });
export type McpLoginRequest = z.infer<typeof McpLoginRequest>;

export const McpLoginAnswer = z.object({
  /** True if the login needed no browser. */
  authorized: z.boolean(),
  authorization_url: z.string().nullable(),
});
export type McpLoginAnswer = z.infer<typeof McpLoginAnswer>;

/** What a server offers besides tools, as of its last discovery. */
export const McpListing = z.object({
  protocol_version: z.string().nullable(),
  instructions: z.string().nullable(),
  /** The shortest time for which one of its lists is valid, if the server states it. */
  ttl_ms: z.number().nonnegative().nullable().optional(),
  prompts: z.array(JsonObject),
  resources: z.array(JsonObject),
  resource_templates: z.array(JsonObject),
  completions: z.boolean(),
  subscribe: z.boolean(),
});
export type McpListing = z.infer<typeof McpListing>;

const Described = z.object({
  description: z.string(),
  input_schema: JsonObject,
  output_schema: JsonObject.nullable(),
  risk: Risk,
  effects: Effects.omit({ cost_units: true }),
});

/** A tool whose description or annotations differ from the accepted ones. */
export const McpToolChange = z.object({
  tool_id: z.string(),
  before: Described,
  after: Described,
  found_at: z.iso.datetime(),
});
export type McpToolChange = z.infer<typeof McpToolChange>;

export const McpAcceptance = z.strictObject({
  tools: z.array(z.string()).min(1).optional().describe('Ids of the tools; all that changed by default'),
  found_until: z.iso
    .datetime()
    .optional()
    .describe('Only changes with this `found_at` or an earlier one: what changed after a review is not accepted'),
});
export type McpAcceptance = z.infer<typeof McpAcceptance>;

/** The `mcp.json` of other clients. Entries are checked one by one. */
export const McpFile = z.object({ mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())) });
export type McpFile = z.infer<typeof McpFile>;

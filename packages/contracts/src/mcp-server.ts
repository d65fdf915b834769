import { z } from 'zod';
import { Trust } from './descriptor.js';
import { JsonObject } from './json.js';

/** It is part of tool ids (`mcp:<server>:<tool>`), so it holds no colon. */
export const McpServerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, 'letters, digits, dot, dash and underscore, 63 at most');

const Value = z
  .string()
  .max(32_768)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  .regex(/^[^\u0000-\u0008\u000a-\u001f\u007f]*$/, 'no control characters')
  // Where other clients ask or look it up, a worker could only pass the text on as it stands.
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

/** What of the caller's own a server may ask for in the middle of a call; people can always be asked. */
export const McpAsk = z.enum(['sampling', 'roots']);
export type McpAsk = z.infer<typeof McpAsk>;

/** What a program gets of the machine it runs on beyond a read-only system and a folder of its own. */
export const McpPermission = z.enum(['network', 'home', 'paths']);
export type McpPermission = z.infer<typeof McpPermission>;

const ToolChoice = z.strictObject({
  allow: z.array(z.string().min(1).max(256)).max(1000).optional(),
  deny: z.array(z.string().min(1).max(256)).max(1000).optional(),
});

const Fields = z.strictObject({
  name: McpServerName,
  command: z.string().min(1).max(4096).optional().describe('Over stdio: the program to start'),
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
    .describe('Folders that a program with the permission paths may write to, beside those that its arguments name'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(4096)
    .refine((text) => URL.canParse(text) && plainHttp(text), 'no credentials and no fragment; headers carry those')
    .optional()
    .describe('Over streamable HTTP: its endpoint'),
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
    .describe('Of a client that was registered by hand; without it, Capstan registers itself at the first login'),
  asks: z
    .array(McpAsk)
    .optional()
    .describe(
      'What of the MCP client that makes a call the server may use: its model (sampling), the list of its folders (roots)',
    ),
  tools: ToolChoice.optional().describe('Which of its tools to take, by name or pattern; all by default'),
  task_support: z
    .record(z.string().min(1).max(256), z.enum(['optional', 'required']))
    .optional()
    .describe('Tools that take long, by name or pattern: clients that know tasks get one for each call'),
  pin: z
    .boolean()
    .optional()
    .describe('Whether a tool whose description changed waits until somebody has looked at it; true by default'),
  trust: Trust.exclude(['native']).optional().describe('By default what its tier deserves'),
  timeout_ms: z.int().min(100).max(600_000).optional().describe('For one call of a tool'),
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

/** Only what is to change; the transport stays. */
export const McpServerChange = Fields.omit({ name: true }).partial();
export type McpServerChange = z.infer<typeof McpServerChange>;

/** Where a server runs: here, on a network of our own, or with somebody else. */
export const McpTier = z.enum(['local', 'remote', 'cloud']);
export type McpTier = z.infer<typeof McpTier>;

/** A server as it is shown: values of variables and headers only where they are references to secrets. */
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
  /** pending: not looked at yet, or being looked at for the first time. */
  status: z.enum(['ready', 'failing', 'pending', 'disabled']),
  tools: z.int(),
  prompts: z.int(),
  resources: z.int(),
  /** The newest protocol that it speaks; null before it was looked at. */
  protocol_version: z.string().nullable(),
  /** Tools whose description has changed, and that wait until somebody has looked at them. */
  changed: z.array(z.string()),
  /** It said that its tools changed, or could not be reached; it is looked at again soon. */
  stale: z.boolean(),
  last_discovery: z.iso.datetime().nullable(),
  last_error: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type McpServer = z.infer<typeof McpServer>;

/** For whom a login at a server counts: everybody of the tenant, or whoever logs in. */
export const McpLoginRequest = z.strictObject({ per: z.enum(['tenant', 'actor']).default('tenant') });
export type McpLoginRequest = z.infer<typeof McpLoginRequest>;

export const McpLoginAnswer = z.object({
  /** It took no browser. */
  authorized: z.boolean(),
  authorization_url: z.string().nullable(),
});
export type McpLoginAnswer = z.infer<typeof McpLoginAnswer>;

/** What a server offers beside its tools, as it was found. */
export const McpListing = z.object({
  protocol_version: z.string().nullable(),
  instructions: z.string().nullable(),
  prompts: z.array(JsonObject),
  resources: z.array(JsonObject),
  resource_templates: z.array(JsonObject),
  completions: z.boolean(),
  subscribe: z.boolean(),
});
export type McpListing = z.infer<typeof McpListing>;

/** A tool whose description is another than the one that was accepted. */
export const McpToolChange = z.object({
  tool_id: z.string(),
  before: z.object({ description: z.string(), input_schema: JsonObject, output_schema: JsonObject.nullable() }),
  after: z.object({ description: z.string(), input_schema: JsonObject, output_schema: JsonObject.nullable() }),
  found_at: z.iso.datetime(),
});
export type McpToolChange = z.infer<typeof McpToolChange>;

export const McpAcceptance = z.strictObject({ tools: z.array(z.string()).min(1).optional() });
export type McpAcceptance = z.infer<typeof McpAcceptance>;

/** `mcp.json`, as other clients keep it. Entries are checked one by one. */
export const McpFile = z.object({ mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())) });
export type McpFile = z.infer<typeof McpFile>;

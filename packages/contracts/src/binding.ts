import { z } from 'zod';
import { type Json, JsonObject } from './json.js';
import { Pool } from './runner-type.js';

const Values = z.record(z.string(), z.string());

/** A tool that the runner itself knows by its id. */
const Native = z.strictObject({ kind: z.literal('native') });

/** A command of an extension. `{{name}}` takes an input as one element, `{{...names}}` a list as several. */
const Command = z.strictObject({
  kind: z.literal('command'),
  extension_id: z.string(),
  /** The hash of the extension's own `tools/`, which come first on PATH; null when it has none. */
  tools_hash: z.string().nullable(),
  executable: z.string().min(1),
  action: z.string(),
  /** Null: the executable, the action's id and the arguments as typed. */
  argv: z.array(z.string()).nullable(),
  stdin: z.string().optional(),
  output: z.enum(['text', 'json', 'lines']),
  env: z.array(z.string()),
  /** What its manifest asks for; everything else is closed to it. */
  permissions: z.array(z.enum(['exec', 'network', 'filesystem.read', 'filesystem.write', 'browser'])),
});

const AtipParameter = z.strictObject({
  name: z.string(),
  type: z.string(),
  variadic: z.boolean(),
  /** The flags of an option, the one to use first; empty for a positional argument. */
  flags: z.array(z.string()),
});

/** A command of an ATIP tool: the path to it, and how its inputs become arguments. */
const Atip = z.strictObject({
  kind: z.literal('atip'),
  executable: z.string().min(1),
  path: z.array(z.string()),
  parameters: z.array(AtipParameter),
  /** Flags that every call has: --yes of a command that would ask for confirmation. */
  always: z.array(z.string()).optional(),
});

/** An HTTP request with `{{name}}` where inputs go. */
const Request = z.strictObject({
  kind: z.literal('request'),
  extension_id: z.string(),
  method: z.string(),
  url: z.string().optional(),
  headers: Values.optional(),
  query: Values.optional(),
  body: z.custom<Json>((value) => value !== undefined).optional(),
});

/** An action of an extension that another runner does: `browser.navigate`, `analyze.response` … */
const Action = z.strictObject({
  kind: z.literal('action'),
  extension_id: z.string(),
  /** The tool of ours that does it. */
  action: z.string(),
  /** Inputs that the extension sets. */
  preset: JsonObject.optional(),
});

/** What else than tools is asked of an MCP server; the inputs are the parameters of the request. */
export const McpMethod = z.enum(['prompts/get', 'resources/read', 'resources/subscribe', 'completion/complete']);
export type McpMethod = z.infer<typeof McpMethod>;

const Mcp = z.strictObject({
  kind: z.literal('mcp'),
  server: z.string(),
  tool: z.string(),
  method: McpMethod.optional(),
  /** Whether its server runs it as a task. */
  task: z.enum(['optional', 'required']).optional(),
});

/** A function in the process of its user, which serves a pool. */
const App = z.strictObject({ kind: z.literal('app'), pool: Pool, id: z.string() });

/** How a runner carries a tool out. */
export const Binding = z.discriminatedUnion('kind', [Native, Command, Atip, Request, Action, Mcp, App]);
export type Binding = z.infer<typeof Binding>;

import { z } from 'zod';
import { type Json, JsonObject } from './json.js';
import { Pool } from './runner-type.js';

const Values = z.record(z.string(), z.string());

/** A tool that the runner implements under its id. */
const Native = z.strictObject({ kind: z.literal('native') });

/** A command of an extension. `{{name}}` inserts an input as one argument, `{{...names}}` a list as several. */
const Command = z.strictObject({
  kind: z.literal('command'),
  extension_id: z.string(),
  /** The hash of the extension's own `tools/`, which come first on PATH; null if it has none. */
  tools_hash: z.string().nullable(),
  executable: z.string().min(1),
  action: z.string(),
  /** Null: the executable, the action's id and the arguments as typed. */
  argv: z.array(z.string()).nullable(),
  stdin: z.string().optional(),
  output: z.enum(['text', 'json', 'lines']),
  env: z.array(z.string()),
  /** The permissions in its manifest. Everything else is denied. */
  permissions: z.array(z.enum(['exec', 'network', 'filesystem.read', 'filesystem.write', 'browser'])),
});

const AtipParameter = z.strictObject({
  name: z.string(),
  type: z.string(),
  variadic: z.boolean(),
  /** The flags of an option, preferred one first; empty for a positional argument. */
  flags: z.array(z.string()),
});

/** A command of an ATIP tool: the path to it, and how its inputs become arguments. */
const Atip = z.strictObject({
  kind: z.literal('atip'),
  executable: z.string().min(1),
  path: z.array(z.string()),
  parameters: z.array(AtipParameter),
  /** Flags of every call, such as --yes for a command that would ask for confirmation. */
  always: z.array(z.string()).optional(),
});

/**
 * How a list or an object is written in a URL or a header: its parts with a separator between them, as `name[key]=value`, with each field
 * as a parameter of its own, or as JSON.
 */
export const RequestStyle = z.enum(['comma', 'space', 'pipe', 'deep', 'fields', 'json']);
export type RequestStyle = z.infer<typeof RequestStyle>;

/** An HTTP request with `{{name}}` in place of inputs. */
const Request = z.strictObject({
  kind: z.literal('request'),
  extension_id: z.string(),
  method: z.string(),
  url: z.string().optional(),
  headers: Values.optional(),
  query: Values.optional(),
  /** By input. Otherwise a list in the query repeats its name, and everything else is JSON. */
  styles: z.record(z.string(), RequestStyle).optional(),
  body: z.custom<Json>((value) => value !== undefined).optional(),
});

/** An action of an extension that another runner performs: `browser.navigate`, `analyze.response` … */
const Action = z.strictObject({
  kind: z.literal('action'),
  extension_id: z.string(),
  /** The built-in tool that performs it. */
  action: z.string(),
  /** Inputs that the extension sets. */
  preset: JsonObject.optional(),
});

/** Requests to an MCP server other than tool calls. The inputs are the parameters of the request. */
export const McpMethod = z.enum(['prompts/get', 'resources/read', 'resources/subscribe', 'completion/complete']);
export type McpMethod = z.infer<typeof McpMethod>;

const Mcp = z.strictObject({
  kind: z.literal('mcp'),
  server: z.string(),
  tool: z.string(),
  method: McpMethod.optional(),
  /** Whether the server can or must run it as a task. */
  task: z.enum(['optional', 'required']).optional(),
});

/** A function in a user's own process, which serves a pool. */
const App = z.strictObject({ kind: z.literal('app'), pool: Pool, id: z.string() });

/** How a runner executes a tool. */
export const Binding = z.discriminatedUnion('kind', [Native, Command, Atip, Request, Action, Mcp, App]);
export type Binding = z.infer<typeof Binding>;

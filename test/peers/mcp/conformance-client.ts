/**
 * The client that the conformance suite starts and checks: it adds the suite's server to a running Capstan, logs in to
 * it as a person would, and calls its tools. `CAPSTAN_URL` and `CAPSTAN_API_KEY` say which Capstan; the address of the server
 * is the last argument.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@capstan/client';
import * as z from 'zod';

const Env = z.object({
  CAPSTAN_URL: z.string(),
  CAPSTAN_API_KEY: z.string(),
  MCP_CONFORMANCE_SCENARIO: z.string(),
  MCP_CONFORMANCE_CONTEXT: z.string().default('{}'),
});
const Context = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.json()) })).optional(),
});

const env = Env.parse(process.env);
const scenario = env.MCP_CONFORMANCE_SCENARIO;
const context = Context.parse(JSON.parse(env.MCP_CONFORMANCE_CONTEXT));
const name = `${scenario.replace(/\W+/g, '-')}-${process.pid}`;
const admin = createClient({ url: env.CAPSTAN_URL, key: env.CAPSTAN_API_KEY });

/** Ends a loop of logins that do not help. */
const MAX_LOGINS = 3;
let logins = 0;

const wantsLogin = (error: string | null | undefined): boolean =>
  error?.includes('capstan mcp login') === true && logins < MAX_LOGINS;

/** Follows the redirects to the authorization server, which asks nothing, and back to Capstan, as a browser would. */
async function logIn(): Promise<void> {
  logins += 1;
  const { authorization_url } = await admin.mcpServers.login(name);
  if (authorization_url === null) return;
  const sent = await fetch(authorization_url, { redirect: 'manual' });
  const back = new URL(sent.headers.get('location') ?? '', authorization_url);
  const answer = await fetch(`${env.CAPSTAN_URL}${back.pathname}${back.search}`);
  if (!answer.ok) throw new Error(`the login was refused: ${await answer.text()}`);
}

/** Accepts whatever the tools ask, with every form unchanged. */
async function answerQuestions(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    for (const { hold_id, tool_id } of (await admin.holds.list().page()).items) {
      if (!tool_id.startsWith(`mcp:${name}:`)) continue;
      const { question } = await admin.holds.get(hold_id);
      const keys = Object.keys(question?.requests ?? {});
      const answers = Object.fromEntries(
        keys.map((key) => [key, { action: 'accept', content: contentFor(question, key) }]),
      );
      await admin.holds.release(hold_id, { answers }).catch((error: unknown) => console.error(String(error)));
    }
    await delay(100);
  }
}

type Inputs = Record<string, z.core.util.JSONType>;

const Form = z.object({
  params: z.object({
    requestedSchema: z.object({
      properties: z.record(z.string(), z.looseObject({ type: z.string().optional() })).default({}),
      required: z.array(z.string()).default([]),
    }),
  }),
});
const SAMPLES: Inputs = { string: 'x', number: 1, integer: 1, boolean: true, array: [], object: {} };

function contentFor(question: { requests: Record<string, unknown> } | null, key: string) {
  const form = Form.safeParse(question?.requests[key]).data?.params.requestedSchema;
  const required = form?.required ?? [];
  return Object.fromEntries(
    required.map((field) => [field, SAMPLES[form?.properties[field]?.type ?? 'string'] ?? 'x']),
  );
}

async function callTool(tool: string, inputs: Inputs): Promise<void> {
  for (;;) {
    const call = { tool_id: `mcp:${name}:${tool}`, inputs, max_attempts: 1, timeout_ms: 15_000 };
    const done = await admin.submit(call, { wait_s: 20 });
    console.log(tool, done.status, done.result?.error ?? '');
    if (!wantsLogin(done.result?.error)) return;
    await logIn();
  }
}

/** The tools of a server, with inputs that their schemas take. */
async function toolsToCall(): Promise<{ name: string; arguments: Inputs }[]> {
  if (context.toolCalls) return context.toolCalls;
  const calls: { name: string; arguments: Inputs }[] = [];
  const schemas = new Map<string, z.core.util.JSONType>();
  for await (const tool of admin.tools.list({ source: 'mcp' })) {
    // Prompts and resources have a slash in their names.
    if (tool.origin !== name || tool.name.includes('/')) continue;
    schemas.set(tool.name, tool.input_schema);
    const { properties } = z
      .looseObject({ properties: Form.shape.params.shape.requestedSchema.shape.properties })
      .parse(tool.input_schema);
    const inputs = Object.entries(properties).map(([field, { type = 'string' }]) => [field, SAMPLES[type] ?? null]);
    calls.push({ name: tool.name, arguments: Object.fromEntries(inputs) });
  }
  const echo = calls.find((call) => call.name === 'json_schema_echo');
  if (echo) return [{ ...echo, arguments: { schema: schemas.get('json_schema_2020_12_tool') ?? {} } }];
  return calls;
}

/** Capstan validates inputs against their schema. Inputs without a value are left out. */
const withoutNulls = (inputs: Inputs): Inputs =>
  Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== null));

const { client_id, client_secret } = context;
if (client_secret !== undefined) await admin.secrets.put(name, client_secret);
const oauth =
  client_id === undefined
    ? {}
    : { oauth: { client_id, ...(client_secret ? { client_secret: `secret://${name}` } : {}) } };
let server = await admin.mcpServers.add({
  name,
  url: process.argv.at(-1) ?? '',
  asks: ['sampling', 'roots'],
  ...oauth,
});
while (wantsLogin(server.last_error)) {
  await logIn();
  server = await admin.mcpServers.get(name);
}
console.log(server.status, server.last_error ?? '');
const stop = new AbortController();
const answering = answerQuestions(stop.signal);
if (scenario !== 'json-schema-ref-no-deref')
  for (const call of await toolsToCall()) await callTool(call.name, withoutNulls(call.arguments));
stop.abort();
await answering;
const failed = server.status === 'failing';
await admin.mcpServers.delete(name);
if (failed) process.exitCode = 1;

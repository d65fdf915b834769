/**
 * An MCP server with everything that the scenarios of the conformance suite need, in both protocols. What Capstan serves
 * from it is what the suite checks. The tests start it over stdio; with the argument `legacy` it does not support the newest protocol.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  completable,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });
const form = (properties: Record<string, object>) => ({
  type: 'object' as const,
  properties: properties as Record<string, { type: 'string' }>,
  required: Object.keys(properties),
});
const string = { type: 'string' as const };
const json = (value: unknown) => JSON.stringify(value);

type Answer = CallToolResult | InputRequiredResult;
type Run = (ctx: ServerContext, args: Record<string, unknown>) => Answer | Promise<Answer>;

const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: string, city: string },
    },
  },
  properties: {
    name: string,
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: string,
    email: string,
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

function createServer(): McpServer {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } } },
  );
  const tool = (name: string, run: Run, shape: z.ZodRawShape = {}, execution?: 'optional' | 'required') =>
    server.registerTool(
      name,
      {
        description: `A tool of the conformance suite: ${name}`,
        inputSchema: z.object(shape),
        annotations: READ_ONLY,
        ...(execution ? { execution: { taskSupport: execution } } : {}),
      },
      (args, ctx) => run(ctx, args),
    );

  tool('test_simple_text', () => text('This is a simple text response for testing.'));
  tool('test_image_content', () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }));
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }));
  tool('test_multiple_content_types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: json({ test: 'data', value: 123 }),
        },
      },
    ],
  }));
  const logging: Run = async (ctx) => {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', message);
      await delay(50);
    }
    return text('Tool with logging executed successfully');
  };
  tool('test_tool_with_logging', logging);
  tool('test_logging_tool', logging);
  tool('test_error_handling', () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  }));
  tool('test_tool_with_progress', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
        });
      await delay(50);
    }
    return text('done');
  });
  // Asks in the older or the newest way, depending on the protocol of the client.
  tool(
    'test_sampling',
    async ({ mcpReq }, { prompt }) => {
      const answer = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
        maxTokens: 100,
      });
      const said = !Array.isArray(answer.content) && answer.content.type === 'text' ? answer.content.text : '';
      return text(`LLM response: ${said}`);
    },
    { prompt: z.string() },
  );
  tool(
    'test_elicitation',
    async ({ mcpReq }, { message }) => {
      const requestedSchema = form({
        username: { ...string, description: "User's response" },
        email: { ...string, description: "User's email address" },
      });
      const { action, content } = await mcpReq.elicitInput({ message: String(message), requestedSchema });
      return text(`User response: action: ${action}, content: ${json(content ?? {})}`);
    },
    { message: z.string() },
  );
  const elicits = (name: string, properties: Record<string, object>) =>
    tool(name, async ({ mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput({
        message: 'Please fill in the form',
        requestedSchema: { ...form(properties), required: [] },
      });
      return text(`Elicitation completed: action=${action}, content=${json(content ?? {})}`);
    });
  elicits('test_elicitation_sep1034_defaults', {
    name: { type: 'string', description: 'User name', default: 'John Doe' },
    age: { type: 'integer', description: 'User age', default: 30 },
    score: { type: 'number', description: 'User score', default: 95.5 },
    status: { type: 'string', description: 'User status', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', description: 'Verification status', default: true },
  });
  const options = ['option1', 'option2', 'option3'];
  const titled = (...titles: string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }));
  elicits('test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: fromJsonSchema<Record<string, unknown>>(SCHEMA_2020),
      annotations: READ_ONLY,
    },
    (args) => text(json(args)),
  );
  server.registerTool(
    'test_header_param',
    {
      description: 'A tool with an argument that is repeated in a header',
      inputSchema: fromJsonSchema<{ region?: string }>({
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
      }),
      annotations: READ_ONLY,
    },
    ({ region }) => text(`region: ${region ?? 'none'}`),
  );

  serveQuestions(tool);
  serveTaskTools(tool);
  serveChanges(server, tool);
  servePrompts(server);
  serveResources(server);
  return server;
}

type AddTool = (name: string, run: Run, shape?: z.ZodRawShape, execution?: 'optional' | 'required') => unknown;

const STATE = 'state-of-the-fixture';
const nameForm = z.object({ name: z.string() });
const capital = () =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
    maxTokens: 100,
  });
const askName = (message: string) => inputRequired.elicit({ message, requestedSchema: form({ name: string }) });

/** Multi-round requests of 2026-07-28. */
function serveQuestions(tool: AddTool): void {
  const greet: Run = ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_name', nameForm);
    return given
      ? text(`Hello, ${given.name}!`)
      : inputRequired({ inputRequests: { user_name: askName('What is your name?') } });
  };
  tool('test_input_required_result_elicitation', greet);
  tool('test_streaming_elicitation', greet);
  tool('test_input_required_result_sampling', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question');
    if (answer.kind !== 'sampling') return inputRequired({ inputRequests: { capital_question: capital() } });
    return text(`The answer: ${json(answer.result.content)}`);
  });
  tool('test_input_required_result_list_roots', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (answer.kind !== 'roots') return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    return text(`Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`);
  });
  const stateful: Run = ({ mcpReq }) => {
    const confirm = acceptedContent(mcpReq.inputResponses, 'confirm', z.object({ ok: z.boolean() }));
    if (confirm && mcpReq.requestState<string>() === STATE) return text('state-ok');
    const requestedSchema = form({ ok: { type: 'boolean' } });
    return inputRequired({
      inputRequests: { confirm: inputRequired.elicit({ message: 'Please confirm', requestedSchema }) },
      requestState: STATE,
    });
  };
  tool('test_input_required_result_request_state', stateful);
  tool('test_input_required_result_tampered_state', stateful);
  tool('test_input_required_result_multiple_inputs', ({ mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, 'user_name', nameForm);
    const greeting = inputResponse(mcpReq.inputResponses, 'greeting');
    const roots = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (name && greeting.kind === 'sampling' && roots.kind === 'roots') return text(`Hello ${name.name}`);
    const message = { role: 'user' as const, content: { type: 'text' as const, text: 'Generate a greeting' } };
    return inputRequired({
      inputRequests: {
        user_name: askName('What is your name?'),
        greeting: inputRequired.createMessage({ messages: [message], maxTokens: 50 }),
        client_roots: inputRequired.listRoots(),
      },
      requestState: STATE,
    });
  });
  tool('test_input_required_result_multi_round', ({ mcpReq }) => {
    const state = mcpReq.requestState<string>();
    const first = acceptedContent(mcpReq.inputResponses, 'step1', nameForm);
    const second = acceptedContent(mcpReq.inputResponses, 'step2', z.object({ color: z.string() }));
    if (second && state?.startsWith('name:')) return text(`${state.slice(5)} likes ${second.color}`);
    if (!first) {
      const step1 = askName('Step 1: What is your name?');
      return inputRequired({ inputRequests: { step1 }, requestState: 'begun' });
    }
    const requestedSchema = form({ color: string });
    const step2 = inputRequired.elicit({ message: 'Step 2: What is your favorite color?', requestedSchema });
    return inputRequired({ inputRequests: { step2 }, requestState: `name:${first.name}` });
  });
  tool('test_input_required_result_capabilities', ({ mcpReq }) => {
    const able = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    if (Object.keys(mcpReq.inputResponses ?? {}).length > 0) return text('thank you');
    return inputRequired({
      inputRequests: {
        ...(able.sampling ? { capital_question: capital() } : { user_name: askName('What is your name?') }),
      },
    });
  });
  // The SDK refuses to ask for what the client did not declare.
  tool('test_missing_capability', ({ mcpReq }) =>
    inputResponse(mcpReq.inputResponses, 'capital_question').kind === 'sampling'
      ? text('sampling is there')
      : inputRequired({ inputRequests: { capital_question: capital() } }),
  );
}

function serveTaskTools(tool: AddTool): void {
  tool('greet', (_, { name }) => text(`Hello, ${name}!`), { name: z.string() });
  const seconds = { seconds: z.number().default(0), label: z.string().optional() };
  tool(
    'slow_compute',
    async ({ mcpReq }, args) => {
      await delay(Number(args.seconds) * 1000, undefined, { signal: mcpReq.signal }).catch(() => {});
      return text(`computed for ${args.seconds}s`);
    },
    seconds,
    'optional',
  );
  const failing: Run = async () => {
    await delay(1000);
    return { ...text('the job failed'), isError: true };
  };
  tool('failing_job', failing, {}, 'required');
  const broken: Run = () => inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  tool('protocol_error_job', broken, {}, 'optional');
  const confirm = (message: string) =>
    inputRequired.elicit({ message, requestedSchema: form({ confirm: { type: 'boolean' } }) });
  const agreed = z.object({ confirm: z.boolean() });
  tool(
    'confirm_delete',
    ({ mcpReq }, { filename }) =>
      acceptedContent(mcpReq.inputResponses, 'confirm', agreed)
        ? text(`deleted ${filename}`)
        : inputRequired({ inputRequests: { confirm: confirm('Delete it?') } }),
    { filename: z.string().optional() },
    'optional',
  );
  tool(
    'multi_input',
    ({ mcpReq }) => {
      const first = acceptedContent(mcpReq.inputResponses, 'first', agreed);
      const second = acceptedContent(mcpReq.inputResponses, 'second', agreed);
      return first && second
        ? text('both were answered')
        : inputRequired({ inputRequests: { first: confirm('First?'), second: confirm('Second?') } });
    },
    {},
    'optional',
  );
  tool(
    'test_tool_with_task',
    async ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_name', z.looseObject({}));
      if (!given) return inputRequired({ inputRequests: { user_name: askName('What is your name?') } });
      await delay(500);
      return text(`Hello, ${json(given)}`);
    },
    {},
    'required',
  );
}

function serveChanges(server: McpServer, tool: AddTool): void {
  let count = 0;
  tool('test_trigger_tool_change', () => {
    count += 1;
    server.registerTool(`added_${count}`, { description: 'It was added', annotations: READ_ONLY }, () => text('added'));
    return text('there is one more tool');
  });
  tool('test_trigger_prompt_change', () => {
    count += 1;
    server.registerPrompt(`added_${count}`, { description: 'It was added' }, () => ({ messages: [] }));
    return text('there is one more prompt');
  });
}

const said = (value: string) => ({ role: 'user' as const, content: { type: 'text' as const, text: value } });

function servePrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt' }, () => ({
    messages: [said('This is a simple prompt for testing.')],
  }));
  const suggest = (value: string | undefined) =>
    ['paris', 'park', 'party', 'test'].filter((one) => one.startsWith(value ?? ''));
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments',
      argsSchema: z.object({ arg1: completable(z.string(), suggest), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => ({ messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        said('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
      said('Please analyze the image above.'),
    ],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'A prompt that asks' }, ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }));
    if (given) return { messages: [said(`In the context of ${given.context}`)] };
    const message = 'What context should the prompt use?';
    const requestedSchema = form({ context: string });
    return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) } });
  });
}

function serveResources(server: McpServer): void {
  const add = (uri: string, mimeType: string, content: { text: string } | { blob: string }) =>
    server.registerResource(uri, uri, { title: uri, description: `The resource ${uri}`, mimeType }, () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  add('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  add('test://static-binary', 'image/png', { blob: PIXEL });
  add('test://watched-resource', 'text/plain', { text: 'Watched' });
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'A template', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: json({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

if (process.argv[2] === 'legacy') await createServer().connect(new StdioServerTransport());
else serveStdio(createServer);

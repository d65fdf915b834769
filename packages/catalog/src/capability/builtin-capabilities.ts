import type { Capability, JsonObject } from '@capstan/contracts';

const config = (properties: JsonObject): JsonObject => ({ type: 'object', properties, additionalProperties: false });

const capability = (given: Pick<Capability, 'id' | 'name' | 'description'> & Partial<Capability>): Capability => ({
  version: '1.0.0',
  status: 'available',
  icon: null,
  category: null,
  system_prompt_addition: null,
  tools: [],
  depends_on: [],
  config_schema: null,
  ...given,
});

const FILES_PROMPT = `You have a file system of your own for this session. Paths are absolute and begin with '/'.
- Look around with list_directory before you read or write; find text in many files with grep_files.
- read_file gives a whole file; stat_file tells its size first when it may be large.
- write_file replaces a whole file and makes the folders above it. Send binary content with encoding "base64".
- delete_file takes a folder with what is in it only when recursive is true. What is deleted is gone.`;

const TODO_PROMPT = `Keep a list of tasks with write_todos when the work has three or more steps, when you are given several things to do, or when it
needs a plan. Write new requirements down at once.
- Each call replaces the whole list, so always send all of it.
- content says what to do ("Run tests"), activeForm the same while it is done ("Running tests").
- Mark a task in_progress before you begin it, and only one at a time.
- Mark it completed as soon as it is really done: tests pass, nothing is left over. Add what turned up on the way.
- Do without the list for a single, simple step.`;

/** The capabilities that every installation has. */
export const BUILTIN_CAPABILITIES: Capability[] = [
  capability({
    id: 'noop',
    name: 'No-Op',
    description: 'Adds nothing. For tests and demonstrations.',
    icon: 'circle-off',
    category: 'Testing',
  }),
  capability({
    id: 'current_time',
    name: 'Current Time',
    description: 'Tool to get current date and time in various formats and timezones.',
    icon: 'clock',
    category: 'Utilities',
    tools: ['cap:current_time:get_current_time'],
    config_schema: config({
      timezone: { type: 'string', minLength: 1, maxLength: 64 },
      format: { type: 'string', enum: ['iso8601', 'unix', 'human'] },
    }),
  }),
  capability({
    id: 'test_math',
    name: 'Test Math',
    description: 'Calculator tools to try tool calling with.',
    icon: 'calculator',
    category: 'Testing',
    system_prompt_addition:
      'You have access to math tools. Use them for calculations: add, subtract, multiply, divide.',
    tools: ['add', 'subtract', 'multiply', 'divide'].map((name) => `cap:test_math:${name}`),
  }),
  capability({
    id: 'test_weather',
    name: 'Test Weather',
    description: 'Made-up weather data to try tool calling with.',
    icon: 'cloud-sun',
    category: 'Testing',
    system_prompt_addition:
      'You have access to weather tools. Use get_weather for current conditions and get_forecast for multi-day forecasts.',
    tools: ['cap:test_weather:get_weather', 'cap:test_weather:get_forecast'],
    config_schema: config({ unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } }),
  }),
  capability({
    id: 'research',
    name: 'Research',
    description: 'Deep research capability with organized scratchpad.',
    icon: 'search',
    category: 'AI',
    system_prompt_addition:
      'You have access to a research scratchpad. Use it to organize your thoughts and findings.\nwrite_scratchpad keeps a finding under a heading, with its source; read_scratchpad returns your findings; clear_scratchpad deletes outdated ones.',
    tools: ['write_scratchpad', 'read_scratchpad', 'clear_scratchpad'].map((name) => `cap:research:${name}`),
    // The prompt asks for the source of each finding.
    depends_on: ['web_fetch'],
  }),
  capability({
    id: 'sandbox',
    name: 'Sandboxed Execution',
    description: 'Runs code in a sandbox without access to the network.',
    icon: 'box',
    category: 'Execution',
    system_prompt_addition:
      'You can execute code in a sandboxed environment. Use the execute_code tool to run code safely.',
    tools: ['cap:sandbox:execute_code'],
    config_schema: config({ language: { type: 'string', minLength: 1, maxLength: 32 } }),
  }),
  capability({
    id: 'session_file_system',
    name: 'File System',
    description: 'Tools to access and manipulate files in the session file system.',
    icon: 'folder',
    category: 'File Operations',
    system_prompt_addition: FILES_PROMPT,
    tools: ['read_file', 'write_file', 'list_directory', 'grep_files', 'delete_file', 'stat_file'].map(
      (name) => `cap:session_file_system:${name}`,
    ),
  }),
  capability({
    id: 'web_fetch',
    name: 'Web Fetch',
    description: 'Fetch content from URLs and convert HTML responses to markdown or plain text.',
    icon: 'globe',
    category: 'Network',
    tools: ['cap:web_fetch:web_fetch'],
    config_schema: config({ as_markdown: { type: 'boolean' }, as_text: { type: 'boolean' } }),
  }),
  capability({
    id: 'stateless_todo_list',
    name: 'Task Management',
    description:
      'Enables agents to create and manage structured task lists for tracking multi-step work progress. State is maintained in conversation history.',
    icon: 'list-checks',
    category: 'Productivity',
    system_prompt_addition: TODO_PROMPT,
    tools: ['cap:stateless_todo_list:write_todos'],
  }),
];

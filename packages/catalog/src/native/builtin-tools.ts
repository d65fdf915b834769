import { type Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';

/** Touches nothing outside itself, so it can be repeated safely. */
const harmless = (tool_id: string, description: string, input_schema: JsonObject): Descriptor => ({
  tool_id,
  name: tool_id.slice(tool_id.lastIndexOf(':') + 1),
  description,
  source: 'capability',
  origin: tool_id.split(':')[1] ?? '',
  runner: 'builtin',
  binding: { kind: 'native' },
  input_schema,
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
});

const inputs = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  ...(required.length > 0 ? { required } : {}),
  properties,
  additionalProperties: false,
});

const NUMBERS = inputs({ a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']);

const CITY: JsonObject = { type: 'string', minLength: 1, maxLength: 200, description: 'The name of a city' };
const UNIT: JsonObject = { type: 'string', enum: ['celsius', 'fahrenheit'], description: 'celsius by default' };

const TODO = inputs(
  {
    content: { type: 'string', minLength: 1, description: 'What to do, in the imperative: "Run tests"' },
    activeForm: { type: 'string', minLength: 1, description: 'The same in progress: "Running tests"' },
    status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
  },
  ['content', 'activeForm', 'status'],
);

const SECTION: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description: 'The heading it is kept under',
};

/** Writes only to the session's scratchpad. Not idempotent: adding twice adds two entries. */
const note = (descriptor: Descriptor): Descriptor => ({
  ...descriptor,
  side_effects: ['database.write'],
  effects: { ...NO_EFFECTS, idempotent: false },
});

/** The tools that run inside the worker process. */
export const IN_PROCESS_TOOLS: Descriptor[] = [
  // For testing the path of an invocation. The capability of that name offers no tool to models.
  harmless('cap:noop:noop', 'Does nothing, and returns its input', { type: 'object' }),
  harmless(
    'cap:current_time:get_current_time',
    'The current date and time',
    inputs({
      timezone: { type: 'string', description: 'An IANA time zone, such as America/New_York; UTC by default' },
      format: { type: 'string', enum: ['iso8601', 'unix', 'human'] },
    }),
  ),
  harmless('cap:test_math:add', 'Add two numbers', NUMBERS),
  harmless('cap:test_math:subtract', 'Subtract the second number from the first', NUMBERS),
  harmless('cap:test_math:multiply', 'Multiply two numbers', NUMBERS),
  harmless('cap:test_math:divide', 'Divide the first number by the second', NUMBERS),
  harmless(
    'cap:test_weather:get_weather',
    'The weather in a city now (made up, the same every time)',
    inputs({ city: CITY, unit: UNIT }, ['city']),
  ),
  harmless(
    'cap:test_weather:get_forecast',
    'The weather in a city over the next days (made up, the same every time)',
    inputs(
      { city: CITY, days: { type: 'integer', minimum: 1, maximum: 14, description: '5 by default' }, unit: UNIT },
      ['city'],
    ),
  ),
  harmless(
    'cap:stateless_todo_list:write_todos',
    'Create or update the list of tasks. Send the complete list each time: it replaces the one before.',
    inputs({ todos: { type: 'array', maxItems: 500, items: TODO } }, ['todos']),
  ),
  note(
    harmless(
      'cap:research:write_scratchpad',
      'Write findings to the scratchpad of this session, under a heading',
      inputs(
        {
          section: SECTION,
          content: { type: 'string', description: 'The findings, with their sources' },
          mode: { type: 'string', enum: ['replace', 'append'], description: 'replace by default' },
        },
        ['section', 'content'],
      ),
    ),
  ),
  {
    ...harmless(
      'cap:research:read_scratchpad',
      'Read the scratchpad of this session: one section, or all of it',
      inputs({ section: SECTION }),
    ),
    side_effects: ['database.read'],
  },
  note(
    harmless(
      'cap:research:clear_scratchpad',
      'Empty the scratchpad of this session: one section, or all of it',
      inputs({ section: SECTION }),
    ),
  ),
];

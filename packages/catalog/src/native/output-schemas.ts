import type { Descriptor, JsonObject } from '@capstan/contracts';

const text: JsonObject = { type: 'string' };
const number: JsonObject = { type: 'number' };
const integer: JsonObject = { type: 'integer' };
const flag: JsonObject = { type: 'boolean' };
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const some: JsonObject = { type: 'object' };

/** All members are required except those in `optional`. Later versions may add members. */
const object = (properties: JsonObject, optional: string[] = []): JsonObject => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const RESULT = object({ result: number });
const WEATHER = { temperature: number, conditions: text, humidity_percent: number, wind_kmh: number };
const WRITTEN = object({ path: text, size_bytes: integer, created: flag });
const FILE = object({ path: text, content: text, encoding: text, size_bytes: integer });
const PROCESS = object({ stdout: text, stderr: text, exit_code: integer });
const RESPONSE = object({ status_code: integer, headers: some, url: text, body: {}, encoding: text });
const ARTIFACT = object({ sha256: text, name: text, media_type: text, size: integer });

/** The output schemas of the native tools. A test checks each tool against its schema. */
const OUTPUT_SCHEMAS: Record<string, JsonObject> = {
  'cap:noop:noop': some,
  'cap:current_time:get_current_time': object({ time: { type: ['string', 'integer'] }, timezone: text, format: text }),
  'cap:test_math:add': RESULT,
  'cap:test_math:subtract': RESULT,
  'cap:test_math:multiply': RESULT,
  'cap:test_math:divide': RESULT,
  'cap:test_weather:get_weather': object({ city: text, unit: text, ...WEATHER }),
  'cap:test_weather:get_forecast': object({ city: text, unit: text, days: integer, forecast: list(some) }),
  'cap:stateless_todo_list:write_todos': object({
    ...{ success: flag, total_tasks: integer, pending: integer, in_progress: integer, completed: integer },
    ...{ todos: list(some), warnings: list(text) },
  }),
  'cap:research:write_scratchpad': object({ section: text, size_bytes: integer }),
  'cap:research:read_scratchpad': object({ sections: list(some), count: integer }),
  'cap:research:clear_scratchpad': object({ cleared: integer }),
  'cap:session_file_system:read_file': FILE,
  'cap:session_file_system:write_file': WRITTEN,
  'cap:session_file_system:list_directory': object({ path: text, entries: list(some), count: integer }),
  'cap:session_file_system:grep_files': object({ pattern: text, matches: list(some), match_count: integer }),
  'cap:session_file_system:delete_file': object({ path: text, deleted: flag, count: integer }),
  'cap:session_file_system:stat_file': object({ path: text, name: text, exists: flag }),
  'fs.read': FILE,
  'fs.write': WRITTEN,
  'shell.run': PROCESS,
  'cap:sandbox:execute_code': PROCESS,
  'api.call': RESPONSE,
  'http.get': RESPONSE,
  'cap:web_fetch:web_fetch': object(
    {
      ...{ url: text, method: text, final_url: text, status_code: integer, content_type: text, last_modified: text },
      ...{ filename: text, size: integer, format: text, content: text, truncated: flag, error: text },
    },
    ['final_url', 'last_modified', 'filename', 'size', 'format', 'content', 'truncated', 'error'],
  ),
  'browser.navigate': object({ url: text, title: text }),
  'browser.screenshot': object({ url: text, artifact: ARTIFACT }),
  'browser.pdf': object({ url: text, artifact: ARTIFACT }),
  'browser.extract': object({ url: text, data: {} }),
  'browser.script': object({ steps: list(some), url: text, title: text }),
  'analyze.response': object({
    ...{ answer: text, model: text, stop_reason: { type: ['string', 'null'] }, source: text, content_cut: flag },
  }),
  // Each operation returns different members.
  'analyze.schema': some,
  'mcp.discover': some,
};

export const withOutputSchema = (descriptor: Descriptor): Descriptor => {
  const output_schema = descriptor.output_schema ?? OUTPUT_SCHEMAS[descriptor.tool_id];
  return output_schema ? { ...descriptor, output_schema } : descriptor;
};

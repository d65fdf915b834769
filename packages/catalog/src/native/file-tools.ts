import { type Descriptor, type Effects, type JsonObject, NO_EFFECTS, type SideEffect } from '@capstan/contracts';

type Touches = { read?: boolean; write?: boolean; delete?: boolean };

const tool = (
  tool_id: string,
  description: string,
  input_schema: JsonObject,
  given: Pick<Descriptor, 'risk'> & { touches: Touches; effects?: Partial<Effects> },
): Descriptor => {
  const { read = false, write = false, delete: deletes = false } = given.touches;
  const capability = /^cap:(\w+):/.exec(tool_id)?.[1];
  const side_effects: SideEffect[] = [];
  if (read) side_effects.push('fs.read');
  if (write) side_effects.push('fs.write');
  if (deletes) side_effects.push('fs.delete');
  return {
    tool_id,
    name: tool_id.slice(tool_id.lastIndexOf(':') + 1),
    description,
    source: capability ? 'capability' : 'core',
    origin: capability ?? 'core',
    runner: 'file',
    binding: { kind: 'native' },
    input_schema,
    risk: given.risk,
    side_effects,
    effects: { ...NO_EFFECTS, filesystem: { read, write, delete: deletes }, ...given.effects },
    trust: 'native',
    inferred: [],
  };
};

const inputs = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  ...(required.length > 0 ? { required } : {}),
  properties,
  additionalProperties: false,
});

const path = (description: string): JsonObject => ({ type: 'string', minLength: 1, maxLength: 4096, description });
const ENCODING: JsonObject = { type: 'string', enum: ['text', 'base64'], description: 'text by default' };
const READS = { risk: 'LOW', touches: { read: true } } as const;
const session = (name: string) => `cap:session_file_system:${name}`;

/** Files of a session, kept in Postgres, and files of the workspace, kept on the worker's disk. */
export const FILE_TOOLS: Descriptor[] = [
  tool(
    session('read_file'),
    'Read a file of this session',
    inputs({ path: path("Absolute, such as '/docs/readme.txt'") }, ['path']),
    READS,
  ),
  tool(
    session('write_file'),
    'Create or replace a file of this session; its folders are made as needed',
    inputs({ path: path("Absolute, such as '/docs/readme.txt'"), content: { type: 'string' }, encoding: ENCODING }, [
      'path',
      'content',
    ]),
    // It always writes the whole content, so repeating it changes nothing.
    { risk: 'LOW', touches: { write: true }, effects: { reversible: false } },
  ),
  tool(session('list_directory'), 'List a folder of this session', inputs({ path: path("'/' by default") }), READS),
  tool(
    session('grep_files'),
    'Search the text files of this session, line by line',
    inputs(
      {
        pattern: { type: 'string', minLength: 1, maxLength: 1000, description: 'A regular expression (RE2 syntax)' },
        path_pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 1000,
          description: "Only files like this, such as '*.txt' or '/docs/**'",
        },
      },
      ['pattern'],
    ),
    READS,
  ),
  tool(
    session('delete_file'),
    'Delete a file or folder of this session',
    inputs(
      {
        path: path('Absolute'),
        recursive: { type: 'boolean', description: 'Also delete the contents of the folder; false by default' },
      },
      ['path'],
    ),
    { risk: 'MED', touches: { delete: true }, effects: { destructive: true, reversible: false } },
  ),
  tool(
    session('stat_file'),
    'Get information about a file or folder of this session',
    inputs({ path: path('Absolute') }, ['path']),
    READS,
  ),
  tool(
    'fs.read',
    'Read a file of the workspace',
    inputs({ path: path('Relative to the workspace'), encoding: ENCODING }, ['path']),
    {
      risk: 'MED',
      touches: { read: true },
    },
  ),
  tool(
    'fs.write',
    'Create or replace a file of the workspace; its folders are made as needed',
    inputs({ path: path('Relative to the workspace'), content: { type: 'string' }, encoding: ENCODING }, [
      'path',
      'content',
    ]),
    { risk: 'HIGH', touches: { write: true }, effects: { reversible: false } },
  ),
];

import { type Descriptor, type Effects, type JsonObject, NO_EFFECTS } from '@capstan/contracts';

const INPUTS: JsonObject = {
  type: 'object',
  required: ['connection', 'sql'],
  properties: {
    connection: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'The name of a database, as configured by the operator',
    },
    sql: {
      type: 'string',
      minLength: 1,
      maxLength: 1_000_000,
      description: 'One statement. Values go into params: $1, $2 … in Postgres, ? in SQLite',
    },
    params: { type: 'array', maxItems: 1000 },
    max_rows: { type: 'integer', minimum: 1, maximum: 10_000, description: '1000 by default; a longer answer is cut' },
  },
  additionalProperties: false,
};
const OUTPUT: JsonObject = {
  type: 'object',
  required: ['connection', 'columns', 'rows', 'row_count', 'truncated'],
  properties: {
    connection: { type: 'string' },
    columns: { type: 'array', items: { type: 'object' } },
    rows: { type: 'array', items: { type: 'object' } },
    row_count: { type: 'integer' },
    truncated: { type: 'boolean' },
  },
};

const READS: Effects = { ...NO_EFFECTS, network: true };
/** If policy allows writing, it can do whatever the database user can. */
const WRITES: Effects = { ...READS, idempotent: false, destructive: true, reversible: false };

const tool = (over: Pick<Descriptor, 'tool_id' | 'description' | 'risk' | 'side_effects' | 'effects'>): Descriptor => ({
  name: over.tool_id,
  source: 'core',
  origin: 'core',
  runner: 'db',
  binding: { kind: 'native' },
  input_schema: INPUTS,
  output_schema: OUTPUT,
  trust: 'native',
  inferred: [],
  ...over,
});

export const DB_TOOLS: Descriptor[] = [
  tool({
    tool_id: 'db.read',
    description: 'Query a database with one SQL statement that only reads',
    risk: 'MED',
    side_effects: ['database.read', 'network.socket'],
    effects: READS,
  }),
  tool({
    tool_id: 'db.query',
    description: 'Run one SQL statement on a database: in a read-only transaction, unless the policy lets it write',
    risk: 'HIGH',
    side_effects: ['database.read', 'database.write', 'database.delete', 'network.socket'],
    effects: WRITES,
  }),
];

import { ALL_EFFECTS, type Descriptor, type JsonObject } from '@capstan/contracts';
import { STDIN, TTY } from './exec-inputs.js';

const ENV: JsonObject = {
  type: 'object',
  description: 'Variables with secrets, each as secret://name; no argument can hold one',
  maxProperties: 32,
  propertyNames: { pattern: '^[A-Z_][A-Z0-9_]{0,127}$' },
  additionalProperties: { type: 'string', pattern: '^secret://[A-Za-z0-9_.:/-]{1,256}$' },
};

const exec = (tool: Pick<Descriptor, 'tool_id' | 'name' | 'description' | 'source' | 'origin' | 'input_schema'>) =>
  ({
    ...tool,
    runner: 'exec',
    binding: { kind: 'native' },
    risk: 'HIGH',
    side_effects: ['system.exec', 'fs.read', 'fs.write', 'network.socket'],
    effects: ALL_EFFECTS,
    trust: 'native',
    inferred: [],
  }) satisfies Descriptor;

/** The tools that start a process. */
export const EXEC_TOOLS: Descriptor[] = [
  exec({
    tool_id: 'shell.run',
    name: 'shell.run',
    description: 'Run a program with arguments, in a sandbox; no shell is involved',
    source: 'core',
    origin: 'core',
    input_schema: {
      type: 'object',
      required: ['cmd'],
      properties: {
        cmd: { type: 'array', minItems: 1, items: { type: 'string' } },
        stdin: STDIN,
        env: ENV,
        tty: TTY,
      },
      additionalProperties: false,
    },
  }),
  exec({
    tool_id: 'cap:sandbox:execute_code',
    name: 'execute_code',
    description:
      'Run code in a sandbox without network and return its output. Files in $CAPSTAN_ARTIFACTS are kept as artifacts',
    source: 'capability',
    origin: 'sandbox',
    input_schema: {
      type: 'object',
      required: ['code'],
      properties: {
        code: { type: 'string', minLength: 1, maxLength: 1_000_000 },
        language: {
          type: 'string',
          enum: ['javascript', 'python', 'shell'],
          description: 'javascript by default; shell only where the policy grants it',
        },
        stdin: STDIN,
      },
      additionalProperties: false,
    },
  }),
];

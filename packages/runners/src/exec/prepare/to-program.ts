import type { JsonObject } from '@capstan/contracts';
import type { Call, ToolFailure } from '../../runner.js';
import { invalid, refused } from '../refused.js';
import { buildCommandLine } from './command/build-command-line.js';
import { parseExecuteCodeInputs } from './execute-code-inputs.js';
import type { Program } from './program.js';
import { parseShellRunInputs } from './shell-run-inputs.js';

/** Derives the program to run from a tool and its inputs. */
export const toProgram = (call: Call): Program | ToolFailure => {
  const { tool_id, binding } = call.descriptor;
  if (binding.kind === 'command' || binding.kind === 'atip') return fromBinding(call, binding);
  if (tool_id === 'shell.run') return parseShellRunInputs(call.inputs);
  if (tool_id === 'cap:sandbox:execute_code') return parseExecuteCodeInputs(call.inputs);
  return refused('UNKNOWN_TOOL', `the exec runner has no tool ${tool_id}`);
};

type Bound = Parameters<typeof buildCommandLine>[0];

const fromBinding = ({ descriptor, inputs }: Call, binding: Bound): Program | ToolFailure => {
  const built = buildCommandLine(binding, ownInputs(descriptor.input_schema, inputs));
  if ('error' in built) return invalid(built.error);
  const common = { ...built, env: {}, tty: inputs.tty === true, files: {} };
  if (binding.kind === 'atip') {
    const { network, filesystem } = descriptor.effects;
    const writes = filesystem.write || filesystem.delete;
    const stdin = answersIn(binding, inputs);
    return {
      ...common,
      stdin,
      output: 'text',
      writes,
      network,
      declared_env: null,
      tools_hash: null,
      extension_id: null,
    };
  }
  const { output, permissions, tools_hash, extension_id } = binding;
  return {
    ...common,
    output,
    writes: permissions.includes('filesystem.write'),
    network: permissions.includes('network'),
    declared_env: binding.env,
    tools_hash,
    extension_id,
  };
};

/** The answers for an interactive tool, from `stdin`, unless the tool has an input of that name. */
const answersIn = ({ parameters }: Extract<Bound, { kind: 'atip' }>, { stdin }: JsonObject): string | undefined =>
  typeof stdin === 'string' && parameters.every(({ name }) => name !== 'stdin') ? stdin : undefined;

/** `tty` is for the runner, unless the tool has an input of that name. */
const ownInputs = (schema: JsonObject, { tty, ...rest }: JsonObject): JsonObject => {
  const { properties } = schema;
  const is_own = typeof properties === 'object' && properties !== null && 'tty' in properties;
  return tty === undefined || !is_own ? rest : { ...rest, tty };
};

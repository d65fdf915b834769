import type { Descriptor, Json, JsonObject } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { type Coerced, coerceInputs } from './input/coerce-inputs.js';
import { DIALOGUE } from './native/exec-inputs.js';
import { compileSchema, type Validate } from './schema/compile-schema.js';

/** Where inputs or outputs are wrong, and how. */
export type InputError = { field: string; message: string };

/** A tool that can be called: its descriptor, the hash of it, and its inputs' check, compiled on first use. */
export type CatalogEntry = {
  descriptor: Descriptor;
  descriptor_hash: string;
  /** What is wrong with the inputs; empty when they are right. */
  check(inputs: JsonObject): InputError[];
  /** What is wrong with what it answered; empty when that is right, and where it declares nothing of it. */
  checkOutput(payload: Json): InputError[];
  /** The inputs as the tool is to get them, safely coerced where its kind allows that; hashes are of what was sent. */
  prepare(inputs: JsonObject): Coerced;
  /** Why it cannot be called at all; null when it can. */
  unavailable(): string | null;
};

const MAX_ERRORS = 20;

type Compiled = { validate: Validate } | { reason: string };

export function toEntry(descriptor: Descriptor, descriptor_hash = hashJson(descriptor)): CatalogEntry {
  let compiled: Compiled | undefined;
  const compile = (): Compiled => {
    compiled ??= tryCompile(descriptor.input_schema, 'input_schema');
    return compiled;
  };
  let output: Compiled | null | undefined;
  const { binding, effects, output_schema } = descriptor;
  const prepare = (inputs: JsonObject): Coerced => {
    if (binding.kind !== 'atip') return { inputs, warnings: [] };
    return coerceInputs(effects.interactive ? [...DIALOGUE, ...binding.parameters] : binding.parameters, inputs);
  };
  return {
    descriptor,
    descriptor_hash,
    prepare,
    unavailable: () => {
      const ready = compile();
      return 'reason' in ready ? ready.reason : null;
    },
    check: (inputs) => {
      const ready = compile();
      if ('reason' in ready) return [{ field: 'tool_id', message: `cannot be called: ${ready.reason}` }];
      return findErrors(ready.validate, prepare(inputs).inputs, 'inputs');
    },
    checkOutput: (payload) => {
      output ??= output_schema === undefined ? null : tryCompile(output_schema, 'output_schema');
      if (output === null) return [];
      if ('reason' in output) return [{ field: 'output', message: `cannot be checked: ${output.reason}` }];
      return findErrors(output.validate, payload, 'output');
    },
  };
}

function tryCompile(schema: JsonObject, name: string): Compiled {
  try {
    return { validate: compileSchema(schema) };
  } catch (error) {
    return { reason: `its ${name} cannot be used: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function findErrors(validate: Validate, value: Json, root: string): InputError[] {
  try {
    return validate(value)
      .slice(0, MAX_ERRORS)
      .map(({ path, message }) => ({ field: [root, ...path].join('.'), message }));
  } catch (error) {
    // A pattern that takes too long, a schema without end, a text that is no Unicode: it is the value that cannot pass.
    return [{ field: root, message: error instanceof Error ? error.message : 'cannot be checked' }];
  }
}

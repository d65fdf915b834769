import type { Descriptor, Json, JsonObject } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { type Coerced, coerceInputs } from './input/coerce-inputs.js';
import { DIALOGUE } from './native/exec-inputs.js';
import { compileSchema, type Validate } from './schema/compile-schema.js';

/** A wrong field of inputs or outputs, and what is wrong with it. */
export type InputError = { field: string; message: string };

/** All mistakes in one sentence: a model that learns of one mistake at a time calls again for each. */
export const describeErrors = (errors: readonly InputError[]): string =>
  errors.map(({ field, message }) => `${field} ${message}`).join('; ');

/** A tool: its descriptor, the descriptor's hash, and the check of its inputs, compiled on first use. */
export type CatalogEntry = {
  descriptor: Descriptor;
  descriptor_hash: string;
  /** The mistakes in the inputs; empty if they are valid. */
  check(inputs: JsonObject): InputError[];
  /** The mistakes in the output; empty if it is valid or if the tool declares no output schema. */
  checkOutput(payload: Json): InputError[];
  /** The inputs that the tool gets, safely coerced if its source allows it. Hashes are of the inputs as sent. */
  prepare(inputs: JsonObject): Coerced;
  /** Why the tool cannot be called; null if it can. */
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
    // A pattern that runs too long, an endless schema or invalid Unicode: the value is rejected.
    return [{ field: root, message: error instanceof Error ? error.message : 'cannot be checked' }];
  }
}

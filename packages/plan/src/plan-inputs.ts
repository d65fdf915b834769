import { Failure, type Json, type JsonObject, type Plan, type PlanInput } from '@capstan/contracts';
import { z } from 'zod';
import type { Mistake } from './plan-error.js';
import { didYouMean } from './suggest-name.js';

/** The inputs of a plan, made ready to be checked. */
export type PlanInputs = {
  names: ReadonlySet<string>;
  /** What was given, with the defaults; throws what is wrong with it. */
  fill(given: JsonObject): JsonObject;
};

type Ready = { input: PlanInput; schema: z.ZodType };

export function compileInputs({ inputs = {} }: Plan, mistakes: Mistake[]): PlanInputs {
  const ready = new Map<string, Ready>();
  for (const [name, input] of Object.entries(inputs)) {
    const path = ['inputs', name];
    const schema = toSchema(input, path, mistakes);
    if (!schema) continue;
    ready.set(name, { input, schema });
    if (input.default === undefined) continue;
    const checked = schema.safeParse(input.default);
    if (!checked.success) mistakes.push({ path: [...path, 'default'], message: describe(checked.error) });
  }
  return { names: new Set(Object.keys(inputs)), fill: (given) => fill(ready, given) };
}

type JsonSchema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;

/** Without what is absent: the library takes an undefined keyword for a given one. */
const toJsonSchema = (input: Omit<PlanInput, 'required' | 'default'>, required: string[] | undefined): JsonSchema =>
  JSON.parse(JSON.stringify({ ...input, required }));

/** A pattern could take for ever on what somebody sends, so there is none; see PlanInput. */
function toSchema(input: PlanInput, path: string[], mistakes: Mistake[]): z.ZodType | null {
  const { required, default: _, ...rest } = input;
  try {
    return z.fromJSONSchema(toJsonSchema(rest, Array.isArray(required) ? required : undefined));
  } catch (error) {
    mistakes.push({ path, message: error instanceof Error ? error.message : 'not a schema' });
    return null;
  }
}

function fill(ready: ReadonlyMap<string, Ready>, given: JsonObject): JsonObject {
  const errors: { field: string; message: string; suggestion?: string }[] = [];
  for (const name of Object.keys(given)) {
    if (ready.has(name)) continue;
    const suggestion = didYouMean(name, ready.keys());
    errors.push({
      field: `inputs.${name}`,
      message: 'is no input of this plan',
      ...(suggestion ? { suggestion } : {}),
    });
  }
  const filled: JsonObject = {};
  for (const [name, { input, schema }] of ready) {
    const value: Json | undefined = Object.hasOwn(given, name) ? given[name] : input.default;
    if (value === undefined) {
      if (input.required === false) filled[name] = null;
      else errors.push({ field: `inputs.${name}`, message: 'is missing' });
      continue;
    }
    const checked = schema.safeParse(value);
    if (checked.success) filled[name] = value;
    else errors.push({ field: `inputs.${name}`, message: describe(checked.error) });
  }
  const [first] = errors;
  if (!first) return filled;
  throw new Failure('INVALID_INPUTS', {
    detail: `${first.field} ${first.message}`,
    suggestion: first.suggestion ?? 'Correct the inputs; the plan says under inputs what it takes.',
    context: { errors },
  });
}

const describe = (error: z.ZodError): string =>
  error.issues
    .map(({ path, message }) => [...(path.length > 0 ? [path.join('.')] : []), message].join(': '))
    .join('; ');

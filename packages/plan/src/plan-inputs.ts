import { Failure, issueText, type Json, type JsonObject, type Plan, type PlanInput } from '@capstan/contracts';
import { z } from 'zod';
import type { Mistake } from './plan-error.js';
import { didYouMean } from './suggest-name.js';

/** The compiled inputs of a plan. */
export type PlanInputs = {
  names: ReadonlySet<string>;
  /** Validates the given inputs and adds the defaults. */
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

/** Removes undefined keywords, which the library would treat as present. */
const toJsonSchema = (input: Omit<PlanInput, 'required' | 'default'>, required: string[] | undefined): JsonSchema =>
  JSON.parse(JSON.stringify({ ...input, required }));

/** Patterns are not supported, because matching one against untrusted input may not terminate in reasonable time; see PlanInput. */
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
      message: 'is not an input of this plan',
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
    suggestion: first.suggestion ?? 'Correct the inputs. The plan declares them under inputs.',
    context: { errors },
  });
}

const describe = (error: z.ZodError): string =>
  error.issues
    .map((issue) => [...(issue.path.length > 0 ? [issue.path.join('.')] : []), issueText(issue)].join(': '))
    .join('; ');

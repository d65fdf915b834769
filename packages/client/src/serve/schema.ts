import { type JsonObject, toJsonObject } from '@capstan/contracts';

type Issue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};
type Checked<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };
type JsonSchemaOptions = { readonly target: 'draft-2020-12' };

/**
 * A schema of any library that implements Standard Schema (https://standardschema.dev): zod from 4.2, ArkType, Valibot. If it cannot be
 * converted to JSON Schema, give `input_schema` and `output_schema`.
 */
export type StandardSchema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly jsonSchema?:
      | {
          readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
          readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
        }
      | undefined;
  };
};

export type InputOf<Schema> = Schema extends StandardSchema<infer Input, unknown> ? Input : never;
export type OutputOf<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : never;

class InvalidValue extends Error {
  override readonly name = 'InvalidValue';
}

/** Returns the value as parsed by the schema, with defaults and without unknown fields. */
export async function check<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
  what: string,
): Promise<Output> {
  const asked = schema['~standard'].validate(value);
  const checked = asked instanceof Promise ? await asked : asked;
  if (checked.issues === undefined) return checked.value;
  const why = checked.issues.map(({ path = [], message }) => `${[what, ...path.map(segment)].join('.')}: ${message}`);
  throw new InvalidValue(why.join('; '));
}

const segment = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === 'object' ? part.key : part);

export function toJsonSchema(schema: StandardSchema, side: 'input' | 'output', of: string): JsonObject {
  const converter = schema['~standard'].jsonSchema;
  if (!converter)
    throw new TypeError(
      `The ${side} of ${of} cannot say itself as JSON Schema (${schema['~standard'].vendor}): give ${side}_schema as well.`,
    );
  const { $schema: _, ...json } = converter[side]({ target: 'draft-2020-12' });
  return toJsonObject(json);
}

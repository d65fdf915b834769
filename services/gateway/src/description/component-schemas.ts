import * as contracts from '@capstan/contracts';
import { z } from 'zod';

type Json = Record<string, unknown>;
type Io = 'input' | 'output';

const named = z.registry<{ id: string }>();
const names = new Map<z.ZodType, string>();
for (const [name, schema] of Object.entries(contracts))
  if (schema instanceof z.ZodType && /^[A-Z]/.test(name) && !names.has(schema)) {
    named.add(schema, { id: name });
    names.set(schema, name);
  }

const PREFIX = '#/components/schemas/';

/**
 * JSON Schemas that refer to each other by their names in the contracts. Requests and responses may differ (defaults are filled
 * in); if they do, the schema of the request is called `…Input`.
 */
export function componentSchemas(): {
  /** `inline`: the schema itself instead of a reference; schemas inside it are still references. */
  of(schema: z.ZodType, io: Io, inline?: 'inline'): Json;
  all(): Record<string, Json>;
} {
  const components = new Map<string, Json>();
  const outputs = new Map<string, string>();

  const take = (name: string, schema: Json) => {
    if (!components.has(name)) components.set(name, schema);
  };

  return {
    of: (schema, io, inline) => {
      const override = schema.meta()?.override;
      const real = override instanceof z.ZodType ? override : schema;
      const { $schema: _, $defs = {}, ...root } = convert(real, io);
      const own = names.get(real);
      // zod may return a named schema as a reference to its own definition.
      const defs: Record<string, Json> = { ...(own ? { [own]: root } : {}), ...$defs };
      for (const [name, def] of Object.entries(defs)) defs[name] = withoutId(def);
      const plain = own === undefined ? withoutId(root) : defs[own];
      if (inline && own !== undefined) delete defs[own];
      const renamed = io === 'output' ? new Set<string>() : differing(defs, outputs);
      const rename = (name: string) => (renamed.has(name) ? `${name}Input` : name);
      for (const [name, def] of Object.entries(defs)) {
        if (io === 'output') outputs.set(name, JSON.stringify(def));
        take(rename(name), rewritten(def, rename));
      }
      return own && !inline ? { $ref: `${PREFIX}${rename(own)}` } : rewritten(plain ?? {}, rename);
    },
    all: () => Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

const convert = (schema: z.ZodType, io: Io): Json & { $defs?: Record<string, Json> } =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata: named,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === contracts.JsonObject) Object.assign(jsonSchema, { type: 'object', additionalProperties: {} });
      // `named` has the names of components only; descriptions are in the registry that `describe` uses.
      const about = z.globalRegistry.get(zodSchema)?.description;
      if (about !== undefined) jsonSchema.description = about;
      // A member with a default is optional in a request, but client generators treat it as always present.
      const { default: preset, ...rest } = jsonSchema;
      if (io === 'output' || preset === undefined) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      const said = rest.description === undefined ? '' : `${rest.description}. `;
      Object.assign(jsonSchema, rest, { description: `${said}${JSON.stringify(preset)} by default` });
    },
  });

/** Schemas that differ from the response schema of the same name, and those that refer to one of them. */
function differing(defs: Record<string, Json>, outputs: ReadonlyMap<string, string>): Set<string> {
  const found = new Set(
    Object.entries(defs).flatMap(([name, def]) =>
      outputs.has(name) && outputs.get(name) !== JSON.stringify(def) ? [name] : [],
    ),
  );
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [name, def] of Object.entries(defs))
      if ([...found].some((each) => JSON.stringify(def).includes(`"#/$defs/${each}"`))) found.add(name);
  }
  return found;
}

const withoutId = ({ id: _, ...schema }: Json): Json => schema;

function rewritten(schema: Json, rename: (name: string) => string): Json {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#/$defs/')
      ? `${PREFIX}${rename(value.slice('#/$defs/'.length))}`
      : value,
  );
}

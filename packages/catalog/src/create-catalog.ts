import type { Descriptor, JsonObject } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

export type InputError = { field: string; message: string };

/** A tool that can be called: its descriptor, the hash of it, and its inputs' check, compiled once. */
export type CatalogEntry = {
  descriptor: Descriptor;
  descriptor_hash: string;
  /** What is wrong with the inputs; empty when they are right. */
  check(inputs: JsonObject): InputError[];
};

export type Catalog = {
  get(tool_id: string): CatalogEntry | undefined;
  list(): CatalogEntry[];
  /** Ids that somebody who typed `tool_id` may have meant. */
  similar(tool_id: string): string[];
};

export function createCatalog(descriptors: Descriptor[]): Catalog {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  const entries = new Map(descriptors.map((descriptor) => [descriptor.tool_id, toEntry(ajv, descriptor)]));
  return {
    get: (tool_id) => entries.get(tool_id),
    list: () => [...entries.values()],
    similar: (tool_id) => {
      const words = tool_id
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter((word) => word.length > 2);
      return [...entries.keys()].filter((known) => words.some((word) => known.includes(word))).slice(0, 5);
    },
  };
}

function toEntry(ajv: Ajv2020, descriptor: Descriptor): CatalogEntry {
  const validate = ajv.compile(descriptor.input_schema);
  return {
    descriptor,
    descriptor_hash: hashJson(descriptor),
    check: (inputs) => (validate(inputs) ? [] : (validate.errors ?? []).map(toInputError)),
  };
}

function toInputError(error: ErrorObject): InputError {
  const unknown: unknown = error.params.additionalProperty ?? error.params.missingProperty;
  const at = error.instancePath.slice(1).replaceAll('/', '.');
  const field = typeof unknown === 'string' ? [at, unknown].filter(Boolean).join('.') : at;
  return { field: `inputs${field ? `.${field}` : ''}`, message: error.message ?? 'is not valid' };
}

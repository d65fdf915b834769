import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { createEvaluator, type SchemaError } from './evaluate-schema.js';
import { guardedRegExp } from './guarded-reg-exp.js';
import { messageFor } from './messages.js';
import { createSchemaRegistry, type SchemaRegistry } from './schema-registry.js';
import { keyword, type Schema, subschemas } from './subschemas.js';
import { areUnique } from './unique-items.js';

/** The mistakes in a value; empty if it is valid. */
export type Validate = (value: Json) => SchemaError[];

/** Schemas that references may point to, by URI. None is ever fetched. */
export type KnownSchemas = ReadonlyMap<string, Schema>;

const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
type AnyAjv = Ajv | Ajv2019 | Ajv2020;

/** Throws with the reason if the schema cannot be used. */
export function compileSchema(schema: Schema, known: KnownSchemas = new Map()): Validate {
  if (typeof schema === 'boolean') return compileExactly(schema, known);
  const dialect = keyword(schema, '$schema') ?? DRAFT_2020;
  if (typeof dialect !== 'string') throw new TypeError('$schema must be a string');
  const name = dialect.replace(/#$/, '').replace(/^http:/, 'https:');
  switch (name) {
    case DRAFT_2020:
      return isOrdinary(schema) ? compileWith(newest(), schema) : compileExactly(schema, known);
    case 'https://json-schema.org/draft/2019-09/schema':
      return compileWith(configured(Ajv2019), schema);
    case 'https://json-schema.org/draft-07/schema':
    case 'https://json-schema.org/draft-06/schema':
      return compileWith(configured(Ajv), { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' });
    default:
      if (known.has(dialect)) return compileExactly(schema, known);
      throw new TypeError(`$schema ${dialect} is not supported; 2020-12 and draft-07 are`);
  }
}

/** Where Ajv deviates from the specification: inherited property names, schemas with `$id`, and unevaluated items. */
const EXTRAORDINARY =
  /"(\$id|\$anchor|\$dynamicRef|\$dynamicAnchor|\$vocabulary|unevaluatedItems|unevaluatedProperties|__proto__|constructor|toString|toLocaleString|valueOf|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|__defineGetter__|__defineSetter__|__lookupGetter__|__lookupSetter__)"|"enum":\[\]|"\$ref":"[^#]/;
const isOrdinary = (schema: JsonObject): boolean => !EXTRAORDINARY.test(JSON.stringify(schema));

let shared: Ajv2020 | undefined;
const newest = (): Ajv2020 => {
  shared ??= configured(Ajv2020);
  return shared;
};

function configured<T extends AnyAjv>(kind: new (options: ConstructorParameters<typeof Ajv>[0]) => T): T {
  const regExp = Object.assign((pattern: string, flags: string) => guardedRegExp(pattern, flags), { code: '' });
  const ajv = new kind({
    allErrors: true,
    strict: false,
    logger: false,
    validateFormats: false,
    verbose: true,
    code: { regExp },
  });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (items: Json[]) => !wanted || areUnique(items),
  });
  return ajv;
}

function compileWith(ajv: AnyAjv, schema: JsonObject): Validate {
  const validate = ajv.compile(schema);
  // Ajv keeps every schema it has compiled, which would leak as descriptors change.
  ajv.removeSchema(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toSchemaError));
}

function toSchemaError({ instancePath, params, keyword: refused, schema, data }: ErrorObject): SchemaError {
  const path = instancePath
    .slice(1)
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (typeof params.missingProperty === 'string')
    return { path: [...path, params.missingProperty], message: 'is required' };
  if (typeof params.additionalProperty === 'string')
    return { path: [...path, params.additionalProperty], message: 'is not a known field' };
  return { path, message: messageFor(refused, schema, data) };
}

function compileExactly(schema: Schema, known: KnownSchemas): Validate {
  const registry = createSchemaRegistry();
  for (const [uri, document] of standardSchemas()) registry.add(document, uri);
  for (const [uri, document] of known) registry.add(document, uri);
  const root = registry.add(schema, 'capstan:/schema');
  if (isObject(schema)) {
    checkReferences(schema, root, registry);
    if (newest().validateSchema({ ...schema, $schema: DRAFT_2020 }) !== true)
      throw new TypeError(`the schema is not valid: ${newest().errorsText(newest().errors)}`);
  }
  return createEvaluator({ registry, root, asserts: assertsValues(schema, registry) });
}

const VALIDATION = 'https://json-schema.org/draft/2020-12/vocab/validation';

/** A metaschema may omit the validation vocabulary. */
function assertsValues(schema: Schema, registry: SchemaRegistry): boolean {
  const dialect = isObject(schema) ? keyword(schema, '$schema') : undefined;
  const meta = typeof dialect === 'string' ? registry.document(dialect) : undefined;
  const vocabulary = isObject(meta) ? keyword(meta, '$vocabulary') : undefined;
  return !isObject(vocabulary) || Object.hasOwn(vocabulary, VALIDATION);
}

/** Resolves references up front, so that a missing one is reported when a tool is added, not when it is called. */
function checkReferences(
  schema: JsonObject,
  from: Parameters<SchemaRegistry['resolve']>[1],
  registry: SchemaRegistry,
): void {
  const resource = registry.resourceOf(schema, from);
  for (const name of ['$ref', '$dynamicRef']) {
    const reference = keyword(schema, name);
    if (typeof reference === 'string') registry.resolve(reference, resource);
  }
  for (const inner of subschemas(schema)) checkReferences(inner, resource, registry);
}

let standard: [string, Schema][] | undefined;
function standardSchemas(): [string, Schema][] {
  const names = [
    'schema',
    ...['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format-annotation', 'content'].map(
      (part) => `meta/${part}`,
    ),
  ];
  standard ??= names.flatMap((name): [string, Schema][] => {
    const uri = `https://json-schema.org/draft/2020-12/${name}`;
    const document = newest().getSchema(uri)?.schema;
    return isObject(document) ? [[uri, document]] : [];
  });
  return standard;
}

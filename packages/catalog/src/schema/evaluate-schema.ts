import type { Json, JsonObject } from '@capstan/contracts';
import type { Matcher } from './guarded-reg-exp.js';
import { guardedRegExp } from './guarded-reg-exp.js';
import { ARRAY_KEYWORDS } from './keywords/array-keywords.js';
import { LOGIC_KEYWORDS } from './keywords/logic-keywords.js';
import { OBJECT_KEYWORDS } from './keywords/object-keywords.js';
import { REFERENCE_KEYWORDS } from './keywords/reference-keywords.js';
import { VALUE_KEYWORDS } from './keywords/value-keywords.js';
import { messageFor } from './messages.js';
import type { Resource, SchemaRegistry } from './schema-registry.js';
import type { Schema } from './subschemas.js';

export type SchemaError = { path: string[]; message: string };

/** The result for a value, and which parts of the value were evaluated. */
export type Verdict = { valid: boolean; properties: Set<string>; items: Set<number> };

/** The current position of an evaluation. */
export type Evaluation = {
  schema: JsonObject;
  value: Json;
  path: string[];
  /** The dynamic scope: the resources entered so far, outermost first. */
  scope: readonly Resource[];
  resource: Resource;
  verdict: Verdict;
  registry: SchemaRegistry;
  /** Evaluates a part of the value, or the value against another schema. Errors are kept unless stated otherwise. */
  apply(
    schema: Schema,
    at?: { value: Json; step: string },
    options?: { quiet?: boolean; resource?: Resource },
  ): Verdict;
  fail(message: string, property?: string): void;
  /** Merges what another schema has evaluated of the same value. */
  note(seen: Verdict): void;
  matcher(pattern: string): Matcher;
};

export type Keyword = (expected: Json, evaluation: Evaluation) => void;

const ASSERTIONS: Record<string, Keyword> = VALUE_KEYWORDS;
/** In the order of evaluation: `unevaluated…` come last, because they depend on what all others evaluated. */
const APPLICATORS: Record<string, Keyword> = {
  ...REFERENCE_KEYWORDS,
  ...ARRAY_KEYWORDS.first,
  ...OBJECT_KEYWORDS.first,
  ...LOGIC_KEYWORDS,
  ...ARRAY_KEYWORDS.last,
  ...OBJECT_KEYWORDS.last,
};
const MAX_DEPTH = 400;

export type EvaluateOptions = { registry: SchemaRegistry; root: Resource; asserts: boolean };

/**
 * JSON Schema 2020-12 exactly as specified, including annotations. Ajv is faster, and right for nearly every schema that
 * tools have, but it fails 62 of the 1,299 mandatory cases of the official suite, around `$dynamicRef`, `unevaluated…` and
 * `$id`. Schemas that use one of these are evaluated here.
 */
export function createEvaluator({ registry, root, asserts }: EvaluateOptions): (value: Json) => SchemaError[] {
  const matchers = new Map<string, Matcher>();
  const matcher = (pattern: string): Matcher => {
    const known = matchers.get(pattern) ?? guardedRegExp(pattern);
    matchers.set(pattern, known);
    return known;
  };
  const keywords = Object.entries(asserts ? { ...APPLICATORS, ...ASSERTIONS } : APPLICATORS);

  const judge = (
    schema: Schema,
    value: Json,
    path: string[],
    scope: readonly Resource[],
    resource: Resource,
    errors: SchemaError[],
    depth: number,
  ): Verdict => {
    const verdict: Verdict = { valid: true, properties: new Set(), items: new Set() };
    if (schema === true) return verdict;
    if (schema === false) {
      errors.push({ path, message: messageFor('false schema', schema, value) });
      return { ...verdict, valid: false };
    }
    if (depth > MAX_DEPTH) throw new RangeError('the schema refers to itself without end');
    const own = registry.resourceOf(schema, resource);
    const entered = scope.at(-1) === own ? scope : [...scope, own];
    const evaluation: Evaluation = {
      schema,
      value,
      path,
      scope: entered,
      resource: own,
      verdict,
      registry,
      apply: (inner, at, { quiet = false, resource: where = own } = {}) =>
        judge(
          inner,
          at ? at.value : value,
          at ? [...path, at.step] : path,
          entered.at(-1) === where ? entered : [...entered, where],
          where,
          quiet ? [] : errors,
          depth + 1,
        ),
      fail: (message, property) => {
        verdict.valid = false;
        errors.push({ path: property === undefined ? path : [...path, property], message });
      },
      note: (seen) => {
        for (const name of seen.properties) verdict.properties.add(name);
        for (const at of seen.items) verdict.items.add(at);
      },
      matcher,
    };
    for (const [name, apply] of keywords) {
      const expected = Object.hasOwn(schema, name) ? schema[name] : undefined;
      if (expected !== undefined) apply(expected, evaluation);
    }
    return verdict;
  };

  return (value) => {
    const errors: SchemaError[] = [];
    judge(root.root, value, [], [], root, errors, 0);
    return errors;
  };
}

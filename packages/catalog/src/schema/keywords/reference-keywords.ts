import { isObject } from '@capstan/contracts';
import type { Evaluation, Keyword } from '../evaluate-schema.js';
import type { Located } from '../schema-registry.js';
import { keyword } from '../subschemas.js';

const follow = ({ schema, resource }: Located, evaluation: Evaluation): void => {
  const seen = evaluation.apply(schema, undefined, { resource });
  if (seen.valid) evaluation.note(seen);
  else evaluation.verdict.valid = false;
};

/**
 * A dynamic reference that initially resolves to a dynamic anchor goes to the outermost anchor of that name in the dynamic
 * scope. Any other is a plain reference.
 */
const dynamicTarget = (reference: string, { registry, resource, scope }: Evaluation): Located => {
  const first = registry.resolve(reference, resource);
  const name = reference.split('#')[1] ?? '';
  const isDynamic = isObject(first.schema) && keyword(first.schema, '$dynamicAnchor') === name;
  return (isDynamic && registry.dynamicAnchor(name, scope)) || first;
};

export const REFERENCE_KEYWORDS: Record<string, Keyword> = {
  $ref: (reference, evaluation) => {
    if (typeof reference === 'string') follow(evaluation.registry.resolve(reference, evaluation.resource), evaluation);
  },
  $dynamicRef: (reference, evaluation) => {
    if (typeof reference === 'string') follow(dynamicTarget(reference, evaluation), evaluation);
  },
};

import type { Json } from '@capstan/contracts';
import { createPairs } from './pairs.js';
import type { References } from './references.js';

export const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'];

export type BothReferences = { before: References; after: References };

/** True if two parts of schemas are equal, including everything that they refer to. The order of members does not matter. */
export const areSame = (before: Json | undefined, after: Json | undefined, references: BothReferences): boolean => {
  const met = createPairs();
  const left = [[before, after]];
  for (let pair = left.pop(); pair; pair = left.pop()) {
    const [one, other] = pair;
    if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) {
      if (one !== other) return false;
      continue;
    }
    if (!met.add(one, other)) continue;
    const others = new Map(Object.entries(other));
    const members = Object.entries(one);
    if (Array.isArray(one) !== Array.isArray(other) || members.length !== others.size) return false;
    for (const [key, value] of members) left.push([value, others.get(key)]);
    left.push(...targetsOf(one, other, references));
  }
  return true;
};

const targetsOf = (one: Json, other: Json, { before, after }: BothReferences): (Json | undefined)[][] =>
  REFERENCE_KEYWORDS.map((keyword) => [target(one, keyword, before), target(other, keyword, after)]);

const target = (schema: Json, keyword: string, references: References): Json | undefined => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return undefined;
  const reference = schema[keyword];
  return typeof reference === 'string' ? references.find(reference, schema) : undefined;
};

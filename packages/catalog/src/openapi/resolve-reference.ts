import { isObject } from '@capstan/contracts';

/**
 * The value that a reference within the document (`#/components/schemas/Pet`) points to; undefined if there is none. References to other
 * documents are not followed.
 */
export function resolveReference(document: object, $ref: string): unknown {
  if (!$ref.startsWith('#/')) return undefined;
  let value: unknown = document;
  for (const part of $ref.slice(2).split('/')) {
    const name = unescaped(part);
    if (name === null || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** The value itself, or what it refers to, also over several references. */
export function follow(document: object, value: unknown): unknown {
  let found = value;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    if (!isObject(found) || typeof found.$ref !== 'string') return found;
    found = resolveReference(document, found.$ref);
  }
  return undefined;
}

const MAX_STEPS = 20;

function unescaped(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}

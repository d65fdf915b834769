import { isDeepStrictEqual } from 'node:util';
import { Failure, isObject, type Json, type JsonObject } from '@capstan/contracts';
import { REPLACEMENT } from '@capstan/redact';
import { redacted } from './hold-item.js';

/**
 * Restores the redacted secrets in edited inputs. A value that comes back exactly as it was shown keeps its stored value. A
 * placeholder anywhere else would be passed to the tool literally, so it is refused.
 *
 * A list counts as a whole: once an item was added, moved or removed, it is a guess which secret belongs to which item.
 */
export const keepSecrets = (sent: JsonObject, stored: JsonObject): JsonObject =>
  keepMembers(sent, redacted(stored), stored, 'inputs');

function keep(sent: Json, shown: Json, stored: Json, path: string): Json {
  if (isDeepStrictEqual(sent, shown)) return stored;
  if (isObject(sent) && isObject(shown) && isObject(stored)) return keepMembers(sent, shown, stored, path);
  return withoutPlaceholder(sent, path);
}

/** Member names may contain secrets, too. Shown and stored members are in the same order. */
function keepMembers(sent: JsonObject, shown: JsonObject, stored: JsonObject, path: string): JsonObject {
  const names = Object.keys(stored);
  const nameOf = new Map(Object.keys(shown).map((name, place) => [name, names[place] ?? name]));
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const own = nameOf.get(name);
      const at = `${path}.${name}`;
      if (own === undefined) return [withoutPlaceholder(name, at), withoutPlaceholder(value, at)];
      return [own, keep(value, shown[name] ?? null, stored[own] ?? null, at)];
    }),
  );
}

function withoutPlaceholder<Value extends Json>(value: Value, path: string): Value {
  if (!JSON.stringify(value).includes(REPLACEMENT)) return value;
  const message = `has ${REPLACEMENT} in it, which stands for a secret that is not shown`;
  throw new Failure('INVALID_INPUTS', {
    detail: `${path} ${message}.`,
    suggestion: 'Leave the value as shown to keep its secret, or replace the whole value.',
    context: { errors: [{ field: path, message }] },
  });
}

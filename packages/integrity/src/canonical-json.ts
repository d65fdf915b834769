/**
 * RFC 8785 (JSON Canonicalization Scheme).
 *
 * JSON.stringify already writes numbers and strings as the RFC requires, so only the members have to be sorted: by UTF-16 code
 * units, the default order of Array.prototype.sort.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new CanonicalJsonError(`${value} is not a JSON number`);
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new CanonicalJsonError(`a ${typeof value} is not JSON`);
  }
}

export class CanonicalJsonError extends TypeError {
  override readonly name = 'CanonicalJsonError';
}

/** ASCII that JSON does not escape: most names, ids, hashes and times. Testing it costs a third of JSON.stringify. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A lone surrogate has no UTF-8 encoding, so two systems could not agree on its hash. */
function canonicalString(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`;
  if (!value.isWellFormed()) throw new CanonicalJsonError('a string contains half of a surrogate pair');
  return JSON.stringify(value);
}

function canonicalArray(items: readonly unknown[]): string {
  let out = '[';
  for (let i = 0; i < items.length; i++) {
    if (i > 0) out += ',';
    out += canonicalJson(items[i]);
  }
  return `${out}]`;
}

function canonicalObject(object: object): string {
  const members = object as Record<string, unknown>;
  let out = '{';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member === undefined) continue;
    if (out.length > 1) out += ',';
    out += `${canonicalString(key)}:${canonicalJson(member)}`;
  }
  return `${out}}`;
}

import type { Binding, Json, JsonObject } from '@capstan/contracts';

type Parameter = Extract<Binding, { kind: 'atip' }>['parameters'][number];

export type Coerced = { inputs: JsonObject; warnings: string[] };

/**
 * Converts what models write in place of a number or a boolean, without guessing: only conversions that are reversible are
 * made. Other values stay unchanged, for the check to report.
 */
export function coerceInputs(parameters: readonly Parameter[], inputs: JsonObject): Coerced {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const coerced: JsonObject = {};
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(inputs)) {
    const parameter = known.get(name);
    if (!parameter) warnings.push(`${name} is not a parameter of this command and is left out`);
    // Some models write null to omit an optional parameter.
    else if (value !== null) coerced[name] = coerceValue(parameter, value);
  }
  return { inputs: coerced, warnings };
}

function coerceValue({ type, variadic }: Parameter, value: Json): Json {
  if (!variadic && type !== 'array') return coerceTo(type, value);
  const list = Array.isArray(value) ? value : [value];
  return list.map((each) => coerceTo(type === 'array' ? 'string' : type, each));
}

export function coerceTo(type: string, value: Json): Json {
  switch (type) {
    case 'integer':
      return typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value.trim()) ? Number(value) : value;
    case 'number':
      return typeof value === 'string' && isNumber(value.trim()) ? Number(value) : value;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    default:
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  }
}

/** A plain decimal. `Number` would also accept blanks, hexadecimal and Infinity. */
const isNumber = (text: string): boolean => /^[+-]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20})(e[+-]?\d{1,3})?$/i.test(text);

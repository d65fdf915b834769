import type { Binding, JsonObject } from '@capstan/contracts';
import type { z } from 'zod';
import { STDIN, TTY } from '../native/exec-inputs.js';
import type { AtipArgument, AtipCommand, AtipOption } from './atip-document.js';

type Parameter = Extract<Binding, { kind: 'atip' }>['parameters'][number];
type Declared = z.infer<typeof AtipArgument> & Partial<AtipOption>;

const JSON_TYPES: Record<Declared['type'], JsonObject> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  file: { type: 'string' },
  directory: { type: 'string' },
  url: { type: 'string' },
  enum: {},
  array: { type: 'array', items: { type: 'string' } },
};

/** How inputs become arguments, and the input schema. `asks`: whether the command asks questions while it runs. */
export function atipParameters(
  { arguments: positionals = [], options = [] }: AtipCommand,
  inherited: AtipOption[],
  asks: boolean,
): { parameters: Parameter[]; input_schema: JsonObject } {
  const declared: Declared[] = [
    ...positionals,
    ...options,
    // An option hides options of the same name further out, of its group or of the tool.
    ...inherited.filter(
      ({ name }, at) =>
        !options.some((option) => option.name === name) && inherited.findIndex((option) => option.name === name) === at,
    ),
  ];
  const named = withUniqueNames(declared);
  const required = named.flatMap(({ name, parameter }) => (parameter.required ? [name] : []));
  return {
    parameters: named.map(({ name, parameter }) => toParameter(name, parameter)),
    // Not closed: unknown parameters are dropped with a warning, as ATIP specifies.
    input_schema: {
      type: 'object',
      properties: {
        ...(asks ? { tty: TTY, stdin: STDIN } : {}),
        ...Object.fromEntries(named.map(({ name, parameter }) => [name, toSchema(parameter)])),
      },
      ...(required.length > 0 ? { required } : {}),
    },
  };
}

/** An argument and an option may share a name. The later one is renamed. */
function withUniqueNames(declared: Declared[]): { name: string; parameter: Declared }[] {
  const taken = new Set<string>();
  return declared.map((parameter) => {
    let name = parameter.name;
    for (let number = 2; taken.has(name); number += 1) name = `${parameter.name}_${number}`;
    taken.add(name);
    return { name, parameter };
  });
}

/** Prefers the long flag, which is readable and takes a value after `=`. */
const toParameter = (name: string, { type, variadic, flags = [] }: Declared): Parameter => ({
  name,
  type,
  variadic,
  flags: [...flags].sort((one, other) => Number(other.startsWith('--')) - Number(one.startsWith('--'))),
});

function toSchema({ type, description, variadic, enum: choices, default: preset }: Declared): JsonObject {
  const single = { ...JSON_TYPES[type], ...(choices ? { enum: choices } : {}) };
  const many = variadic && type !== 'array';
  return {
    ...(many ? { type: 'array', items: single } : single),
    description,
    ...(preset === undefined ? {} : { default: preset }),
  };
}

import { profilesOf } from '@capstan/argv';
import { type PolicyDocument, toolOfAlias } from '@capstan/contracts';
import { compileExpression } from '@capstan/expression';
import { CONDITION_VARIABLES } from './compile-rule.js';

export type Mistake = { path: PropertyKey[]; key?: string; message: string };

/** Finds mistakes in a policy that the schema accepts. */
export function findMistakes(document: PolicyDocument): Mistake[] {
  if (Object.keys(document).length === 0) return [{ path: [], message: 'is empty' }];
  return [
    ...unstorable(document, []),
    ...conditions(document),
    ...ids(document),
    ...spellings(document),
    ...approvals(document),
    ...acceptances(document),
    ...profiles(document),
  ];
}

/** Texts of a policy are stored with decisions, so they must be valid in Postgres. */
function unstorable(value: unknown, path: PropertyKey[]): Mistake[] {
  if (typeof value === 'string')
    return value.isWellFormed() && !value.includes('\u0000')
      ? []
      : [{ path, message: 'must not contain NUL or lone surrogates' }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...unstorable(key, [...path, key]),
    ...unstorable(each, [...path, Array.isArray(value) ? Number(key) : key]),
  ]);
}

const conditions = ({ rules = [] }: PolicyDocument): Mistake[] =>
  rules.flatMap((rule, index) => {
    if (rule.if === undefined) return [];
    const path = ['rules', index, 'if'];
    const compiled = compileExpression(rule.if, CONDITION_VARIABLES);
    if (!compiled.ok) {
      const { message, line, column } = compiled.error;
      const at = line > 1 ? `line ${line}, column ${column}` : `column ${column}`;
      return [{ path, message: `${message} (${at} of the condition)` }];
    }
    const { type } = compiled.expression;
    return type === 'bool' || type === 'dyn' ? [] : [{ path, message: `gives ${type}, and has to give true or false` }];
  });

function ids({ rules = [] }: PolicyDocument): Mistake[] {
  const seen = new Set<string>();
  return rules.flatMap(({ id }, index) => {
    if (seen.has(id)) return [{ path: ['rules', index, 'id'], message: `there is another rule ${id}` }];
    seen.add(id);
    return [];
  });
}

const spellings = ({ tools = {} }: PolicyDocument): Mistake[] =>
  Object.keys(tools).flatMap((key) =>
    toolOfAlias(key) !== key && Object.hasOwn(tools, toolOfAlias(key))
      ? [{ path: ['tools'], key, message: `is another spelling of ${toolOfAlias(key)}, which is there too` }]
      : [],
  );

/** An unknown profile would allow nothing, and nobody would notice until a call is denied. */
const profiles = ({ tools = {} }: PolicyDocument): Mistake[] =>
  Object.entries(tools).flatMap(([tool, { executables = {} }]) =>
    Object.entries(executables).flatMap(([program, { profiles: named = [] }]) => {
      const known = profilesOf(program);
      return named
        .filter((name) => !known.includes(name))
        .map((name) => ({
          path: ['tools', tool, 'executables', program, 'profiles'],
          message: `${name} is no profile of ${program}; ${known.length > 0 ? `there are ${known.join(', ')}` : 'it has none, so name shapes'}`,
        }));
    }),
  );

const approvals = ({ rules = [] }: PolicyDocument): Mistake[] =>
  rules.flatMap(({ effect, approvals: given }, index) =>
    given !== undefined && effect !== 'hold'
      ? [
          {
            path: ['rules', index],
            key: 'approvals',
            message: `only a rule that holds asks for approvals, not ${effect}`,
          },
        ]
      : [],
  );

const acceptances = ({ rules = [] }: PolicyDocument): Mistake[] =>
  rules.flatMap(({ effect, accepts }, index) =>
    accepts !== undefined && effect !== 'allow'
      ? [{ path: ['rules', index], key: 'accepts', message: `only a rule that allows accepts holds, not ${effect}` }]
      : [],
  );

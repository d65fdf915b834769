import type { Json, JsonObject } from '@capstan/contracts';
import { asObject, harmless, narrowed, type SchemaChange, widened } from './schema-change.js';

/** The difference of two schemas, for what stands at `path`. */
type Diff = (path: string, before: JsonObject, after: JsonObject) => SchemaChange[];

/** The members of objects: which there are, which there must be, and whether there may be others. */
export const diffMembers = (path: string, before: JsonObject, after: JsonObject, diff: Diff): SchemaChange[] => {
  const was = asObject(before.properties);
  const is = asObject(after.properties);
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  return [
    ...diffRequired(path, namesIn(before.required), namesIn(after.required)),
    ...diffOthers(path, before.additionalProperties, after.additionalProperties, diff),
    ...names.flatMap((name) => diffMember(`${path}/${escaped(name)}`, was[name], is[name], { before, after }, diff)),
  ];
};

const diffMember = (
  path: string,
  before: Json | undefined,
  after: Json | undefined,
  parents: { before: JsonObject; after: JsonObject },
  diff: Diff,
): SchemaChange[] => {
  if (before !== undefined && after !== undefined) return diff(path, asObject(before), asObject(after));
  const sides = { before, after };
  if (after === undefined)
    return isClosed(parents.after)
      ? [narrowed(path, 'property removed', sides, 'documents that have it are refused now')]
      : [harmless(path, 'property removed', sides, 'it may still be there, with any value')];
  if (isClosed(parents.before)) return [widened(path, 'property added', sides, 'readers of the old schema refuse it')];
  return [harmless(path, 'property added', sides, 'optional, and members of any name were allowed before')];
};

const diffRequired = (path: string, before: string[], after: string[]): SchemaChange[] => [
  ...after
    .filter((name) => !before.includes(name))
    .map((name) =>
      narrowed(
        `${path}/${escaped(name)}`,
        'required added',
        { before: false, after: true },
        'documents without it are refused now',
      ),
    ),
  ...before
    .filter((name) => !after.includes(name))
    .map((name) =>
      widened(`${path}/${escaped(name)}`, 'required removed', { before: true, after: false }, 'it may be absent now'),
    ),
];

const diffOthers = (path: string, before: Json | undefined, after: Json | undefined, diff: Diff): SchemaChange[] => {
  if (JSON.stringify(before ?? true) === JSON.stringify(after ?? true)) return [];
  const sides = { before: before ?? true, after: after ?? true };
  if (after === false) return [narrowed(path, 'additionalProperties closed', sides, 'unknown members are refused now')];
  if (before === false) return [widened(path, 'additionalProperties opened', sides, 'unknown members may come now')];
  return diff(`${path}/*`, asObject(before), asObject(after));
};

const isClosed = (schema: JsonObject): boolean => schema.additionalProperties === false;
const namesIn = (required: Json | undefined): string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === 'string').sort() : [];
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

import type { Json, JsonObject } from '@capstan/contracts';
import { asObject, harmless, narrowed, type SchemaChange, widened } from './schema-change.js';

/** Compares the members of objects: which are known, which are required, and whether others are allowed. */
export const diffMembers = (path: string, before: JsonObject, after: JsonObject): SchemaChange[] => {
  const [was, is] = [membersOf(before), membersOf(after)];
  const gone = [...was.keys()].filter((name) => !is.has(name)).sort();
  const fresh = [...is.keys()].filter((name) => !was.has(name)).sort();
  return [
    ...diffRequired(path, namesIn(before.required), namesIn(after.required)),
    ...diffOthers(path, before.additionalProperties ?? true, after.additionalProperties ?? true),
    ...gone.map((name) => removed(memberPath(path, name), was.get(name), after)),
    ...fresh.map((name) => added(memberPath(path, name), is.get(name), before)),
  ];
};

/** The members whose schemas are compared next, before and after. */
export const memberPlaces = (path: string, before: JsonObject, after: JsonObject) => {
  const [was, is] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  const places = names.flatMap((name) => {
    const one = was.get(name) ?? ruleOfOthers(before);
    const other = is.get(name) ?? ruleOfOthers(after);
    return one === undefined || other === undefined ? [] : [toPlace(memberPath(path, name), one, other)];
  });
  return [...places, ...otherPlaces(`${path}/*`, before.additionalProperties, after.additionalProperties)];
};

const otherPlaces = (path: string, before: Json | undefined, after: Json | undefined) => {
  if (before === undefined && after === undefined) return [];
  // Allowing or forbidding other members is reported as a change of the object.
  return before === false || after === false ? [] : [toPlace(path, before, after)];
};

const toPlace = (path: string, before: Json | undefined, after: Json | undefined) => ({
  path,
  before: asObject(before),
  after: asObject(after),
});

const removed = (path: string, before: Json | undefined, parent: JsonObject): SchemaChange => {
  const sides = { before, after: undefined };
  if (isClosed(parent)) return narrowed(path, 'property removed', sides, 'documents that have it are refused now');
  if (ruleOfOthers(parent) !== undefined)
    return harmless(path, 'property removed', sides, 'it may still be there, as additionalProperties wants it');
  if (Object.keys(asObject(parent.patternProperties)).length > 0)
    return narrowed(path, 'property removed', sides, 'patternProperties may refuse what it was');
  return harmless(path, 'property removed', sides, 'it may still be there, with any value');
};

const added = (path: string, after: Json | undefined, parent: JsonObject): SchemaChange => {
  const sides = { before: undefined, after };
  if (isClosed(parent)) return widened(path, 'property added', sides, 'readers of the old schema refuse it');
  const why =
    ruleOfOthers(parent) === undefined
      ? 'optional, and members of any name were allowed before'
      : 'optional, and allowed before as additionalProperties wanted it';
  return harmless(path, 'property added', sides, why);
};

const diffRequired = (path: string, before: Set<string>, after: Set<string>): SchemaChange[] => [
  ...[...after]
    .filter((name) => !before.has(name))
    .map((name) =>
      narrowed(
        memberPath(path, name),
        'required added',
        { before: false, after: true },
        'documents without it are refused now',
      ),
    ),
  ...[...before]
    .filter((name) => !after.has(name))
    .map((name) =>
      widened(memberPath(path, name), 'required removed', { before: true, after: false }, 'it may be absent now'),
    ),
];

/** Compares whether other members are allowed. Their schemas are compared separately. */
const diffOthers = (path: string, before: Json, after: Json): SchemaChange[] => {
  const sides = { before, after };
  if ((before === false) === (after === false)) return [];
  return after === false
    ? [narrowed(path, 'additionalProperties closed', sides, 'unknown members are refused now')]
    : [widened(path, 'additionalProperties opened', sides, 'unknown members may come now')];
};

const isClosed = ({ additionalProperties, unevaluatedProperties }: JsonObject): boolean =>
  additionalProperties === false || (additionalProperties === undefined && unevaluatedProperties === false);

/** The schema of members that are not listed. Undefined if none, or any, are allowed. */
const ruleOfOthers = ({ additionalProperties }: JsonObject): JsonObject | undefined =>
  typeof additionalProperties === 'object' && Object.keys(asObject(additionalProperties)).length > 0
    ? asObject(additionalProperties)
    : undefined;

/** A map, because a member may have the name of an inherited property. */
const membersOf = ({ properties }: JsonObject): Map<string, Json> => new Map(Object.entries(asObject(properties)));
const namesIn = (required: Json | undefined): Set<string> =>
  new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string').sort() : []);
const memberPath = (path: string, name: string): string =>
  `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

import type { Json, JsonObject } from '@capstan/contracts';
import { diffBounds } from './diff-bounds.js';
import { diffMembers, memberPlaces } from './diff-members.js';
import { diffValues } from './diff-values.js';
import { diffWholes } from './diff-wholes.js';
import { createPairs } from './pairs.js';
import { createReferences } from './references.js';
import type { BothReferences } from './same-schemas.js';
import { asObject, type SchemaChange } from './schema-change.js';

/** A schema that is referenced from many places is compared at each of them, up to this number. */
const MANY_PLACES = 10_000;

export type SchemaDiff = {
  identical: boolean;
  /** True if the changes break none of these. */
  compatible: { writers: boolean; readers: boolean };
  changes: SchemaChange[];
};

/** Compares two schemas: what changed, and whom each change breaks. */
export const diffSchemas = (before: JsonObject | boolean, after: JsonObject | boolean): SchemaDiff & JsonObject => {
  const changes = changesOf(asObject(before), asObject(after));
  const isFine = (party: 'writers' | 'readers') => changes.every(({ breaks }) => !breaks.includes(party));
  return {
    identical: changes.length === 0,
    compatible: { writers: isFine('writers'), readers: isFine('readers') },
    changes,
  };
};

/** Two schemas for the same path in documents. */
type Place = { path: string; before: JsonObject; after: JsonObject; within?: Place };

/** Breadth-first, so that a recursive schema is reported at its outermost place. */
const changesOf = (before: JsonObject, after: JsonObject): SchemaChange[] => {
  const references = { before: createReferences(before), after: createReferences(after) };
  const compared = createPairs();
  const changes: SchemaChange[] = [];
  const places: Place[] = [{ path: '', before, after }];
  for (const [count, found] of places.entries()) {
    const place = resolve(found, references);
    const isNew = compared.add(place.before, place.after);
    if (!isNew && (count > MANY_PLACES || isWithinItself(place))) continue;
    for (const change of diffHere(place, references)) changes.push(change);
    for (const inner of innerPlaces(place)) places.push({ ...inner, within: place });
  }
  return changes;
};

const resolve = (place: Place, references: BothReferences): Place => ({
  ...place,
  before: references.before.resolved(place.before),
  after: references.after.resolved(place.after),
});

const isWithinItself = ({ before, after, within }: Place): boolean => {
  for (let outer = within; outer; outer = outer.within)
    if (outer.before === before && outer.after === after) return true;
  return false;
};

const diffHere = ({ path, before, after }: Place, references: BothReferences): SchemaChange[] => [
  ...diffValues(path, before, after),
  ...diffBounds(path, before, after),
  ...diffMembers(path, before, after),
  ...diffWholes(path, before, after, references),
];

const innerPlaces = ({ path, before, after }: Place): Place[] => [
  ...memberPlaces(path, before, after),
  ...itemPlaces(path, before.items, after.items),
];

const itemPlaces = (path: string, before: Json | undefined, after: Json | undefined): Place[] => {
  if (before === undefined && after === undefined) return [];
  // Lists with one schema per item are compared as a whole.
  if (Array.isArray(before) || Array.isArray(after)) return [];
  return [{ path: `${path}/*`, before: asObject(before), after: asObject(after) }];
};

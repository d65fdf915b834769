import { chainNext, chainStart } from './hash-chain.js';
import { hashOf, type Mismatch, type Removal, shown } from './mismatch.js';
import type { Entry, Row } from './record.js';
import { isSigned, type Seal, sealHash } from './seal.js';
import { changedFields, type FieldDigests, sealEntry } from './seal-entry.js';

/** A stored link of the chain. */
export type Link = {
  place: number;
  kind: Entry['kind'];
  id: string;
  record_hash: string;
  chain_hash: string;
  digests: FieldDigests;
};

/** A link also covers the kind and id of its record, so that neither can be changed. */
export const chainLink = (
  previous: string,
  { kind, id, record_hash }: Pick<Link, 'kind' | 'id' | 'record_hash'>,
): string => chainNext(previous, `${kind} ${id} ${record_hash}`);

/**
 * Checks links and records against each other, one at a time in chain order. Memory use does not grow with the chain. A link is
 * checked against the stored previous link, so that one bad record is reported once and not with all that follow.
 */
export function createVerifier(run_id: string) {
  let place = 0;
  let previous = chainStart(run_id);
  let first_id: string | null = null;
  let last_id: string | null = null;
  const used = { policies: new Set<string>(), descriptors: new Set<string>() };
  let plan_hash: string | null = null;

  const check = function* (link: Link, entry: Entry | undefined): Generator<Mismatch> {
    const row = link.id;
    const at = (table: string, field: string, stored: unknown, computed: unknown, why: string): Mismatch => ({
      ...{ table, row, field, stored: shown(stored), computed: shown(computed), why },
    });
    if (link.place !== place) yield at('seal_links', 'place', link.place, place, 'a link is missing or was moved');
    const chained = chainLink(previous, link);
    if (link.chain_hash !== chained)
      yield at('seal_links', 'chain_hash', link.chain_hash, chained, 'it does not follow from the previous link');
    previous = link.chain_hash;
    place = link.place + 1;
    first_id ??= row;
    last_id = row;
    if (!entry) {
      if (Object.hasOwn(TABLE_OF, link.kind))
        yield at(TABLE_OF[link.kind], 'row', null, link.record_hash, 'the sealed record is missing');
      else yield at('seal_links', 'kind', link.kind, null, 'there are no records of this kind');
      return;
    }
    yield* checkEntry(entry, link, at);
    for (const one of entry.tables.invocations ?? []) {
      used.policies.add(String(one.policy_hash));
      used.descriptors.add(String(one.descriptor_hash));
    }
    for (const one of entry.tables.plan_runs ?? []) {
      plan_hash = String(one.plan_hash);
      used.policies.add(String(one.policy_hash));
    }
  };

  const checkSeal = function* (seal: Seal): Generator<Mismatch> {
    const computed = { run_id, root: previous, count: place, first_id, last_id, plan_hash };
    for (const [field, value] of Object.entries(computed)) {
      const stored = Object.entries(seal).find(([name]) => name === field)?.[1];
      if (stored !== value)
        yield {
          table: 'seals',
          row: run_id,
          field,
          stored: shown(stored),
          computed: shown(value),
          why: 'it does not match the chain',
        };
    }
    const seal_hash = sealHash(seal);
    if (seal.seal_hash !== seal_hash)
      yield {
        table: 'seals',
        row: run_id,
        field: 'seal_hash',
        stored: seal.seal_hash,
        computed: seal_hash,
        why: 'the seal was changed',
      };
    const partly = [seal.signature, seal.key_id, seal.public_key].some((part) => part !== null);
    if (partly && !isSigned(seal))
      yield {
        table: 'seals',
        row: run_id,
        field: 'signature',
        stored: seal.signature,
        computed: null,
        why: 'the seal is not signed by the key it names',
      };
  };

  return { check, checkSeal, used };
}

const TABLE_OF: Record<Entry['kind'], string> = { run: 'runs', step: 'steps', invocation: 'invocations' };
type At = (table: string, field: string, stored: unknown, computed: unknown, why: string) => Mismatch;

function* checkEntry(entry: Entry, link: Link, at: At): Generator<Mismatch> {
  const { record_hash, digests } = sealEntry(entry);
  const changes = changedFields(digests, link.digests);
  for (const { table, row, field } of changes) {
    const stored =
      field === 'row' ? (entry.tables[table]?.[row] ? 'a row' : null) : entry.tables[table]?.[row]?.[field];
    yield at(
      table,
      field,
      stored,
      link.digests[table]?.[row] === undefined ? null : link.record_hash,
      'it differs from what was sealed',
    );
  }
  if (changes.length === 0 && record_hash !== link.record_hash)
    yield at('seal_links', 'record_hash', link.record_hash, record_hash, 'the record differs from what was sealed');
  else if (changes.length > 0 && record_hash === link.record_hash)
    yield at('seal_links', 'digests', null, record_hash, 'the digests were changed, not the record');
  yield* checkHashes(entry, at);
}

/** Checks the hashes within the record against the values they cover. */
function* checkHashes({ tables }: Entry, at: At): Generator<Mismatch> {
  const [run] = tables.runs ?? [];
  for (const row of tables.plan_runs ?? []) {
    yield* same(at, 'plan_runs', 'plan_hash', row, hashOf(row.plan));
    if (run) yield* same(at, 'runs', 'plan_hash', run, row.plan_hash);
  }
  const [invocation] = tables.invocations ?? [];
  if (!invocation) return;
  yield* same(at, 'invocations', 'input_hash', invocation, hashOf(invocation.inputs));
  yield* same(at, 'invocations', 'policy_hash', invocation, memberOf(invocation.decision, 'policy_hash'));
  for (const row of tables.results ?? []) {
    if (!isRemoved(row) && row.output_hash !== hashOf(row.payload ?? null))
      yield at('results', 'payload', row.payload, row.output_hash, 'it does not match the recorded hash');
    yield* same(at, 'results', 'input_hash', row, invocation.input_hash);
  }
}

const isRemoved = ({ payload, removed_at }: Row): boolean =>
  typeof removed_at === 'string' && (payload ?? null) === null;

export const removalsOf = ({ id, tables }: Entry): Removal[] =>
  (tables.results ?? []).flatMap((row) =>
    isRemoved(row) ? [{ table: 'results', row: id, field: 'payload', removed_at: String(row.removed_at) }] : [],
  );

function* same(at: At, table: string, field: string, row: Row, computed: unknown): Generator<Mismatch> {
  if (row[field] !== computed) yield at(table, field, row[field], computed, 'the hash does not match the value');
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;

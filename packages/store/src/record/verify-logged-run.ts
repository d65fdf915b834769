import { loneInvocationId, type Run } from '@capstan/contracts';
import {
  checkDocuments,
  createLogVerifier,
  isSignedByClaimed,
  leafHash,
  logRemovalsOf,
  type Mismatch,
  parseCheckpoint,
  recordHash,
  rootByInclusion,
  type SignedCheckpoint,
  type Tree,
} from '@capstan/integrity';
import { type FoundEntry, findLogEntries, readDigests } from '../merkle/find-log-entries.js';
import { readInvocationRecords, readRunRecord, type StoredRecord } from '../merkle/read-log-records.js';
import { openTree, type StoredCheckpoint } from '../merkle/read-tiles.js';
import type { Db, Store } from '../open-store.js';
import { readDescriptorDocuments, readPolicyDocuments } from './documents.js';
import { nextInvocations } from './read-entries.js';
import type { VerifyStep } from './verify-sealed-run.js';

const BATCH = 500;

/** The records of a run, page by page: its own, and then those of its calls in the order of submission. */
export async function* readLogRecords(
  { db }: Pick<Store, 'db'>,
  { run_id, kind }: Pick<Run, 'run_id' | 'kind'>,
): AsyncGenerator<StoredRecord[]> {
  if (kind === 'lone') {
    yield await readInvocationRecords(db, [loneInvocationId(run_id)]);
    return;
  }
  const run = await readRunRecord(db, run_id);
  if (run) yield [run];
  let seq = '0';
  while (true) {
    const records = await readInvocationRecords(db, await nextInvocations(db, run_id, seq, BATCH));
    const last = records.at(-1)?.tables.invocations?.[0]?.seq;
    if (!last) return;
    yield records;
    seq = last;
  }
}

export type LoggedRecord = { record: StoredRecord; entry: FoundEntry | undefined };

/** A page of records with their entries in the log. */
export async function findEntriesOf(db: Db, tenant: string, records: readonly StoredRecord[]): Promise<LoggedRecord[]> {
  const seqs = records.flatMap(({ seq }) => seq ?? []);
  const entries = await findLogEntries(db, tenant, seqs);
  return records.map((record) => ({ record, entry: record.seq === null ? undefined : entries.get(record.seq) }));
}

/**
 * Recomputes every record from the stored rows, compares it with its log entry, and verifies every entry against the checkpoint, page by page. The
 * last step verifies the run as a whole.
 */
export async function* verifyLoggedRun(
  store: Store,
  tenant: string,
  run: Pick<Run, 'run_id' | 'kind'>,
  checkpoint: StoredCheckpoint | undefined,
): AsyncGenerator<VerifyStep> {
  const { db } = store;
  const verifier = createLogVerifier();
  const tree = openTree(db, tenant);
  const head = checkpoint && parseCheckpoint(checkpoint.note);
  for await (const records of readLogRecords(store, run)) {
    const logged = await findEntriesOf(db, tenant, records);
    const changed = logged.flatMap(({ record, entry }) =>
      entry && !recordHash(record).equals(entry.record_hash) ? [entry.index] : [],
    );
    const digests = await readDigests(db, tenant, changed);
    const mismatches: Mismatch[] = [];
    for (const { record, entry } of logged) {
      const at = entry && { ...entry, digests: digests.get(entry.index) ?? Buffer.alloc(0) };
      mismatches.push(...verifier.check(record, at));
      if (entry && !(await isIncluded(tree, entry, head))) mismatches.push(notIncluded(record, entry));
    }
    yield { checked: records.length, mismatches, removed: records.flatMap(logRemovalsOf) };
  }
  const policies = await readPolicyDocuments(db, verifier.used.policies);
  const descriptors = await readDescriptorDocuments(db, verifier.used.descriptors);
  yield {
    checked: 0,
    removed: [],
    mismatches: [
      ...(head ? checkSignature(head, checkpoint?.key ?? null) : []),
      ...verifier.checkCalls(),
      ...checkDocuments(verifier.used.policies, 'policies', 'document', policies),
      ...checkDocuments(verifier.used.descriptors, 'descriptors', 'descriptor', descriptors),
    ],
  };
}

function* checkSignature(head: SignedCheckpoint, key: string | null): Generator<Mismatch> {
  if (key === null || isSignedByClaimed(head, key)) return;
  yield {
    ...{ table: 'log_checkpoints', row: head.origin, field: 'signature', stored: key, computed: null },
    why: 'the key that it names did not sign this',
  };
}

async function isIncluded(
  tree: Tree,
  { index, record_hash }: FoundEntry,
  head: SignedCheckpoint | undefined,
): Promise<boolean> {
  if (!head || index >= head.size) return false;
  const proof = await tree.inclusionProof(index, head.size);
  return rootByInclusion(leafHash(record_hash), index, head.size, proof)?.equals(head.root) === true;
}

const notIncluded = ({ id }: StoredRecord, { index }: FoundEntry): Mismatch => ({
  ...{ table: 'log_batches', row: id, field: 'hashes', stored: index, computed: null },
  why: 'its entry is not in the log of the checkpoint',
});

/** Verifies the hash of the plan against the run's own record in the log. */
export async function verifyLoggedPlan(
  { db }: Store,
  tenant: string,
  run_id: string,
): Promise<{ plan_hash: string | null } | undefined> {
  const record = await readRunRecord(db, run_id);
  if (!record) return undefined;
  const [logged] = await findEntriesOf(db, tenant, [record]);
  if (!logged?.entry?.record_hash.equals(recordHash(record))) return undefined;
  return { plan_hash: record.tables.runs?.[0]?.plan_hash ?? null };
}

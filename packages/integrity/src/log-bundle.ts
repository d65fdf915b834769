import {
  type BundleCheck,
  BundleError,
  type CheckpointLine,
  type EntryLine,
  type HeaderLine,
} from './bundle-format.js';
import { type Checkpoint, CheckpointError, isSignedBy, isSignedByClaimed, parseCheckpoint } from './checkpoint.js';
import { rootByInclusion } from './merkle-proof.js';
import { leafHash } from './merkle-tree.js';
import { checkDocuments, type Document, type Mismatch } from './mismatch.js';
import { createLogVerifier, logRemovalsOf } from './verify-log-record.js';

/** Checks a bundle of version 2.0: records, a proof that each is in the log, and a checkpoint of the log. */
export function createLogBundleCheck({ run_id, kind }: HeaderLine, wanted_key: string | undefined): BundleCheck {
  const verifier = createLogVerifier();
  const documents: { policies: Document[]; descriptors: Document[] } = { policies: [], descriptors: [] };
  let head: (Checkpoint & { key: string | null }) | null = null;
  let [count, ended, has_run] = [0, false, false];

  const checkEntry = function* (line: EntryLine): Generator<Mismatch> {
    count += 1;
    if (line.kind === 'run') has_run = true;
    const record = { kind: line.kind, id: line.id, tables: line.tables };
    const record_hash = Buffer.from(line.record_hash, 'base64');
    yield* belongs(line, run_id);
    yield* verifier.check(record, { index: line.index, record_hash, digests: Buffer.from(line.digests, 'base64') });
    const proof = line.proof.map((hash) => Buffer.from(hash, 'base64'));
    const root = head && rootByInclusion(leafHash(record_hash), line.index, head.size, proof);
    if (!root || !head?.root.equals(root))
      yield {
        ...{
          table: 'log_batches',
          row: line.id,
          field: 'proof',
          stored: line.index,
          computed: head?.root.toString('base64'),
        },
        why: 'the record is not in the log of this checkpoint',
      };
  };

  return {
    line: (line, number) => {
      if (ended) throw new BundleError(`line ${number} comes after the end`);
      if (line.line === 'checkpoint') {
        if (head) throw new BundleError(`line ${number} is a second checkpoint`);
        head = { ...readCheckpoint(line), key: line.key };
        return checkSignature(line, wanted_key);
      }
      if (!head) throw new BundleError(`line ${number} comes before the checkpoint`);
      if (line.line === 'policy') documents.policies.push({ hash: line.hash, value: line.value });
      else if (line.line === 'descriptor') documents.descriptors.push({ hash: line.hash, value: line.value });
      else if (line.line === 'entry') return checkEntry(line);
      else if (line.line === 'end') {
        ended = true;
        return line.count === count ? [] : [wrongCount(run_id, line.count, count)];
      } else throw new BundleError(`line ${number} is not a line of a version 2.0 bundle`);
      return [];
    },
    removals: (line) => (line.line === 'entry' ? logRemovalsOf(line) : []),
    end: () => {
      if (!ended || !head) throw new BundleError('the end is missing: the file was cut off');
      const mismatches = [
        ...(kind !== 'lone' && !has_run ? [noRun(run_id)] : []),
        ...verifier.checkCalls(),
        ...checkDocuments(verifier.used.policies, 'policies', 'document', documents.policies),
        ...checkDocuments(verifier.used.descriptors, 'descriptors', 'descriptor', documents.descriptors),
      ];
      return { mismatches, signed_by: head.key, root: `sha256:${head.root.toString('hex')}` };
    },
  };
}

/** Checks that an entry belongs to this run. Entries of other runs are in the same log, so a valid proof is not enough. */
function* belongs({ kind, id, tables }: EntryLine, run_id: string): Generator<Mismatch> {
  const [row] = (kind === 'run' ? tables.runs : tables.invocations) ?? [];
  const of = kind === 'run' ? row?.run_id : (row?.run_id ?? row?.invocation_id?.replace(/^inv_/, 'run_'));
  const own = kind === 'run' ? row?.run_id : row?.invocation_id;
  if (of !== run_id || own !== id)
    yield {
      ...{
        table: kind === 'run' ? 'runs' : 'invocations',
        row: id,
        field: 'run_id',
        stored: of ?? null,
        computed: run_id,
      },
      why: 'the record belongs to another run',
    };
}

const readCheckpoint = ({ note }: CheckpointLine) => {
  try {
    return parseCheckpoint(note);
  } catch (error) {
    if (error instanceof CheckpointError) throw new BundleError(`the checkpoint cannot be read: ${error.message}`);
    throw error;
  }
};

function* checkSignature({ note, key }: CheckpointLine, wanted: string | undefined): Generator<Mismatch> {
  const of = { table: 'log_checkpoints', field: 'signature', stored: key };
  const checkpoint = parseCheckpoint(note);
  const row = checkpoint.origin;
  if (wanted !== undefined && !isSignedBy(checkpoint, wanted))
    yield { ...of, row, computed: wanted, why: 'the checkpoint is not signed by the given key' };
  if (key !== null && !isSignedByClaimed(checkpoint, key))
    yield { ...of, row, computed: null, why: 'the checkpoint is not signed by the key it names' };
}

const wrongCount = (row: string, stored: number, computed: number): Mismatch => ({
  ...{
    table: 'runs',
    row,
    field: 'count',
    stored,
    computed,
    why: 'the bundle does not have the number of records it states',
  },
});
const noRun = (row: string): Mismatch => ({
  ...{ table: 'runs', row, field: 'row', stored: null, computed: row, why: "the run's own record is missing" },
});

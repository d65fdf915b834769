import { Failure, type LogProof, type Principal } from '@capstan/contracts';
import {
  appendToLog,
  chainHash,
  type FoundEntry,
  findLogEntries,
  openTree,
  readCheckpoint,
  readEndSeq,
} from '@capstan/store/merkle';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';
import { toLogCheckpoint } from '../verify/recorded-run.js';

/** The inclusion proof of a call or a run, against the newest checkpoint. */
export async function proveEntry(gateway: GatewayContext, principal: Principal, id: string): Promise<LogProof> {
  const { store } = gateway;
  const { tenant } = principal;
  const seq = await readEndSeq(store.db, tenant, id);
  if (seq === undefined) throw notFound(id);
  if (seq === null) throw notLogged(id, 'it has not ended');
  const entry = await findOrAppend(gateway, tenant, seq);
  const checkpoint = await readCheckpoint(store.db, tenant);
  if (!entry || !checkpoint) throw notLogged(id, 'its end is not in the log yet');
  const proof = await openTree(store.db, tenant).inclusionProof(entry.index, checkpoint.size);
  return {
    id,
    log_index: entry.index,
    record_hash: `sha256:${entry.record_hash.toString('hex')}`,
    leaf_hash: chainHash(entry),
    proof: proof.map((hash) => hash.toString('base64')),
    checkpoint: toLogCheckpoint(checkpoint),
  };
}

/** Appends recent ends to the log now, instead of waiting for the coordinator. */
async function findOrAppend(
  { store, seal_key }: GatewayContext,
  tenant: string,
  seq: string,
): Promise<FoundEntry | undefined> {
  const find = async () => (await findLogEntries(store.db, tenant, [seq])).get(seq);
  let entry = await find();
  while (!entry && (await appendToLog(store, seal_key, { wait: true })) > 0) entry = await find();
  return entry ?? find();
}

const notLogged = (id: string, why: string): Failure =>
  new Failure('RUN_NOT_OVER', {
    detail: `${id} is not in the log: ${why}.`,
    suggestion:
      'Wait until it has ended. Runs that ended before the log existed have a seal instead, which capstan verify checks.',
  });

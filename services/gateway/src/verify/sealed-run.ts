import { Failure, isRunOver, loneInvocationId, type Principal, type Run } from '@capstan/contracts';
import type { Seal } from '@capstan/integrity';
import { readSeal, sealLone, sealRun, wasSealed } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { readRun } from '../run/control-run.js';

export type SealedRun = { run: Run; seal: Seal | null };

/**
 * A run that is over, with its seal; one that was never sealed is sealed now. Where the audit tells of a seal that is gone,
 * none is made in its place: it would cover whatever was done since.
 */
export async function sealedRun(gateway: GatewayContext, principal: Principal, run_id: string): Promise<SealedRun> {
  const run = await readOver(gateway, principal, run_id);
  const { store, seal_key } = gateway;
  const seal = await readSeal(store.db, run_id);
  if (seal) return { run, seal };
  // Looked at again, for the coordinator may have sealed it between the two questions.
  if (await wasSealed(store.db, principal.tenant, run_id))
    return { run, seal: (await readSeal(store.db, run_id)) ?? null };
  if (run.kind === 'lone') await sealLone(store, [loneInvocationId(run_id)], seal_key);
  else if ((await sealRun(store, run_id, seal_key)) === 'live') throw notOver(run);
  return { run, seal: (await readSeal(store.db, run_id)) ?? null };
}

export async function readOver(gateway: GatewayContext, principal: Principal, run_id: string): Promise<Run> {
  const run = await readRun(gateway, principal, run_id);
  if (!isRunOver(run.status)) throw notOver(run);
  return run;
}

/** The same for whoever builds on the seal. */
export async function requireSeal(
  gateway: GatewayContext,
  principal: Principal,
  run_id: string,
): Promise<{ run: Run; seal: Seal }> {
  const { run, seal } = await sealedRun(gateway, principal, run_id);
  if (!seal) throw new Failure('RECORD_BROKEN', { detail: `${run_id} was sealed, and the seal is gone.` });
  return { run, seal };
}

const notOver = ({ run_id, status }: Run): Failure =>
  new Failure('RUN_NOT_OVER', {
    detail: `${run_id} is ${status}; its record is complete when it has ended.`,
    context: { status },
  });

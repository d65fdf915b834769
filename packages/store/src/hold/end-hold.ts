import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { endWaited, takeWaiting } from '../invocation/end-waiting.js';
import type { Db, Store } from '../open-store.js';
import { notifyHold } from './notify-hold.js';
import { getHold, type HeldCall, lockHold } from './read-holds.js';

/** `ended`: by this request · `decided`: it was no longer pending. */
export type Ended = { kind: 'ended'; invocation_id: string } | { kind: 'decided' } | { kind: 'missing' };

const HOW = {
  reject: { hold: 'rejected', invocation: 'rejected' },
  withdraw: { hold: 'withdrawn', invocation: 'canceled' },
} as const;

/** One rejection is enough. A withdrawal is by the submitter of the call. */
export async function endHold(
  store: Store,
  by: Principal,
  hold_id: string,
  kind: keyof typeof HOW,
  comment: string | null,
): Promise<Ended> {
  return store.db.transaction().execute(async (db) => {
    const hold = await lockHold(db, by.tenant, hold_id);
    if (!hold) return { kind: 'missing' };
    if (hold.status !== 'pending') return { kind: 'decided' };
    const status = HOW[kind].invocation;
    await endWaited(db, await takeWaiting(db, [hold.invocation_id]), status);
    await addEntry(db, hold, by, kind, comment);
    const [ended] = await db
      .updateTable('holds')
      .set({ status: HOW[kind].hold, decided_at: sql<string>`now()`, decided_by: by.actor })
      .where('hold_id', '=', hold_id)
      .returning(['status', 'decided_by', 'expires_at'])
      .execute();
    if (ended) await notifyHold(db, 'hold.decided', [{ ...hold, ...ended, comment }]);
    return { kind: 'ended', invocation_id: hold.invocation_id };
  });
}

/** False if there is no such hold. Decided holds can be commented on too, so that later findings are on record. */
export async function commentOnHold(store: Store, by: Principal, hold_id: string, comment: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const hold = await getHold(db, by.tenant, hold_id);
    if (!hold) return false;
    await addEntry(db, hold, by, 'comment', comment);
    return true;
  });
}

async function addEntry(
  db: Db,
  hold: HeldCall,
  { actor, identity }: Principal,
  kind: 'reject' | 'withdraw' | 'comment',
  comment: string | null,
): Promise<void> {
  const { hold_id, round, input_hash, descriptor_hash, policy_hash, tenant } = hold;
  const hashes = { input_hash, descriptor_hash, policy_hash };
  await db
    .insertInto('hold_entries')
    .values({
      hold_id,
      round,
      actor,
      kind,
      comment,
      ...hashes,
      previous_input_hash: null,
      changed: null,
      grant_id: null,
      iss: identity?.iss ?? null,
      sub: identity?.sub ?? null,
    })
    .execute();
  const detail = { ...hashes, comment, ...(identity ? { identity } : {}) };
  await appendAudit(db, [{ tenant, actor, event: `hold.${kind}`, subject: hold_id, detail }]);
}

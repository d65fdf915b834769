import type { EffectivePolicy, Page, Policy, PolicyVersion, Principal } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

const columns = ['name', 'version', 'policy_hash', 'document', 'created_at'] as const;

/** A policy with the document that decides: an effective one has the installation's in it. */
export type StoredPolicy = Omit<Policy, 'text'> & { document: EffectivePolicy };

export type PutOptions = {
  /** The YAML that the document was read from. */
  text?: string | null | undefined;
  /** What a document that was sent as JSON reads as: to put it again as that is no change. */
  written?: string | undefined;
  /** Throws to refuse the change; what is in force cannot change meanwhile. */
  check?: ((latest: Policy | undefined) => void) | undefined;
};

/**
 * Versions are kept for ever: recorded decisions refer to them by hash. A document that is in force already is no new version,
 * unless its text is another.
 */
export async function putPolicy(
  store: Store,
  by: Principal,
  name: string,
  document: EffectivePolicy,
  { text = null, written, check }: PutOptions = {},
): Promise<Policy> {
  return store.db.transaction().execute(async (db) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext(${`policy:${name}`}))`.execute(db);
    const policy_hash = hashJson(document);
    const latest = await latestPolicy(db, name);
    check?.(latest);
    if (latest?.policy_hash === policy_hash && (text === null || text === (latest.text ?? written))) return latest;
    const policy = await db
      .insertInto('policies')
      .values({
        name,
        version: (latest?.version ?? 0) + 1,
        policy_hash,
        document: JSON.stringify(document),
        text,
        created_by: by.actor,
      })
      .returning([...columns, 'text'])
      .executeTakeFirstOrThrow();
    await appendAudit(db, [
      {
        tenant: by.tenant,
        actor: by.actor,
        event: 'policy.put',
        subject: name,
        detail: { version: policy.version, policy_hash },
      },
    ]);
    return policy;
  });
}

/** The policy of a first start; an existing one of that name is left alone. */
export async function ensurePolicy(store: Store, name: string, document: EffectivePolicy): Promise<void> {
  await store.db
    .insertInto('policies')
    .values({
      name,
      version: 1,
      policy_hash: hashJson(document),
      document: JSON.stringify(document),
      created_by: 'system',
    })
    .onConflict((conflict) => conflict.columns(['name', 'version']).doNothing())
    .execute();
}

export const latestPolicy = (db: Db, name: string): Promise<(StoredPolicy & Policy) | undefined> =>
  db
    .selectFrom('policies')
    .select([...columns, 'text'])
    .where('name', '=', name)
    .orderBy('version', 'desc')
    .executeTakeFirst();

/** Without those that are found by their hash alone: they came with a run, or are a tenant's with the installation's in it. */
export const latestPolicies = (db: Db): Promise<StoredPolicy[]> =>
  db
    .selectFrom('policies')
    .distinctOn('name')
    .select(columns)
    .where('name', 'not like', '%:%')
    .orderBy('name')
    .orderBy('version', 'desc')
    .execute();

/** No tenant has a colon in its name. */
export const runPolicyName = (policy_hash: string): string => `run:${policy_hash}`;

export const policyByHash = (db: Db, policy_hash: string): Promise<StoredPolicy | undefined> =>
  db.selectFrom('policies').select(columns).where('policy_hash', '=', policy_hash).executeTakeFirst();

export const policyVersion = (db: Db, name: string, version: number): Promise<Policy | undefined> =>
  db
    .selectFrom('policies')
    .select([...columns, 'text'])
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst();

/** Newest first within a name, without those that are found by their hash alone; the cursor is the last one's name and version. */
export async function listPolicyVersions(
  db: Db,
  names: { name?: string | undefined; visible: string[] | null },
  page: { limit: number; cursor?: string | undefined },
): Promise<Page<PolicyVersion>> {
  let query = db
    .selectFrom('policies')
    .select(['name', 'version', 'policy_hash', 'created_by', 'created_at'])
    .where('name', 'not like', '%:%')
    .orderBy('name')
    .orderBy('version', 'desc')
    .limit(page.limit + 1);
  if (names.name !== undefined) query = query.where('name', '=', names.name);
  if (names.visible) query = query.where('name', 'in', names.visible);
  const after = page.cursor === undefined ? null : fromCursor(page.cursor);
  if (after)
    query = query.where((where) =>
      where.or([
        where('name', '>', after.name),
        where.and([where('name', '=', after.name), where('version', '<', after.version)]),
      ]),
    );
  const rows = await query.execute();
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  return { items, next_cursor: rows.length > page.limit && last ? `${last.name}@${last.version}` : null };
}

function fromCursor(cursor: string): { name: string; version: number } | null {
  const at = cursor.lastIndexOf('@');
  const version = Number(cursor.slice(at + 1));
  return at > 0 && Number.isSafeInteger(version) ? { name: cursor.slice(0, at), version } : null;
}

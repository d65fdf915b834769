import type { EffectivePolicy, Page, Policy, PolicyVersion, Principal } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

const columns = ['name', 'version', 'policy_hash', 'document', 'created_at'] as const;

/** A policy with the document that decides, which may include the installation's. */
export type StoredPolicy = Omit<Policy, 'text'> & { document: EffectivePolicy };

export type PutOptions = {
  /** The YAML that the document was parsed from. */
  text?: string | null | undefined;
  /** The YAML form of a document that was sent as JSON: putting it back unchanged is not a change. */
  written?: string | undefined;
  /** Throws to refuse the change. The current version is locked meanwhile. */
  check?: ((latest: Policy | undefined) => void) | undefined;
};

/**
 * Versions are never deleted, because recorded decisions refer to them by hash. Putting the current document again creates no version, unless its
 * text differs.
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

/** Adds the policy of a new installation, unless one of that name exists. */
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

/** Excludes policies that are only found by their hash: those submitted with a run, and combined ones. */
export const latestPolicies = (db: Db): Promise<StoredPolicy[]> =>
  db
    .selectFrom('policies')
    .distinctOn('name')
    .select(columns)
    .where('name', 'not like', '%:%')
    .orderBy('name')
    .orderBy('version', 'desc')
    .execute();

/** A colon cannot occur in a tenant's name. */
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

/** Newest first within a name, without policies that are only found by their hash. The cursor is the last name and version. */
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

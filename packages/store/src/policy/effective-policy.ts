import {
  CLOSED_INSTALLATION,
  DEFAULT_TENANT,
  type EffectivePolicy,
  INSTALLATION_POLICY,
  type PolicyDocument,
} from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { latestPolicy } from './policies.js';

/** A tenant's policy combined with the installation's. Its calls are decided by this document, and `policy_hash` is its hash. */
export type InForce = { policy_hash: string; document: EffectivePolicy };

export const boundBy = (document: PolicyDocument, installation: PolicyDocument): InForce => {
  const effective: EffectivePolicy = { ...document, installation };
  return { policy_hash: hashJson(effective), document: effective };
};

export const installationPolicy = async (db: Db): Promise<PolicyDocument> =>
  (await latestPolicy(db, INSTALLATION_POLICY))?.document ?? CLOSED_INSTALLATION;

/** The policy in force for a tenant: the one with the tenant's name, else `default`, under the installation's. */
export async function tenantPolicyInForce(db: Db, tenant: string): Promise<InForce | undefined> {
  const own = (await latestPolicy(db, tenant)) ?? (await latestPolicy(db, DEFAULT_TENANT));
  return own && keepEffective(db, boundBy(own.document, await installationPolicy(db)));
}

/**
 * Stores the combined document by its hash before a call can refer to it, for the worker's second decision. Checks first, so that known documents can
 * be used while Postgres is read-only.
 */
export async function keepEffective(db: Db, in_force: InForce): Promise<InForce> {
  const { policy_hash, document } = in_force;
  const name = `effective:${policy_hash}`;
  const known = await db.selectFrom('policies').select('version').where('name', '=', name).executeTakeFirst();
  if (!known)
    await sql`INSERT INTO policies (name, version, policy_hash, document, created_by)
      VALUES (${name}, 1, ${policy_hash}, ${JSON.stringify(document)}, 'system')
      ON CONFLICT (name, version) DO NOTHING`.execute(db);
  return in_force;
}

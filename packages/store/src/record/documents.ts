import type { Document } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

type Kept = { descriptor: unknown; descriptor_hash: string };

/** Inserts new documents; existing ones stay unchanged. */
export async function keepDescriptors(db: Db, descriptors: readonly Kept[]): Promise<void> {
  if (descriptors.length === 0) return;
  const rows = descriptors.map(({ descriptor, descriptor_hash }) => ({
    descriptor_hash,
    descriptor: JSON.stringify(descriptor),
  }));
  await sql`
    INSERT INTO descriptors (descriptor_hash, descriptor)
    SELECT descriptor_hash, descriptor::json FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS d (descriptor_hash text, descriptor text)
    ON CONFLICT DO NOTHING`.execute(db);
}

export async function readPolicyDocuments(db: Db, hashes: Iterable<string>): Promise<Document[]> {
  const { rows } = await sql<Document>`
    SELECT policy_hash AS hash, document AS value FROM policies WHERE policy_hash = ANY (${[...hashes]})
    ORDER BY policy_hash, name, version`.execute(db);
  return rows;
}

export async function readDescriptorDocuments(db: Db, hashes: Iterable<string>): Promise<Document[]> {
  const { rows } = await sql<Document>`
    SELECT descriptor_hash AS hash, descriptor AS value FROM descriptors WHERE descriptor_hash = ANY (${[...hashes]})
    ORDER BY descriptor_hash`.execute(db);
  return rows;
}

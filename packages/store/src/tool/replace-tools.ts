import { type Descriptor, Failure, type Principal, type ToolChanges, type ToolSource } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { type AuditEvent, appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

export type { ToolChanges };

export type Actor = Pick<Principal, 'tenant' | 'actor'>;

/** The complete set of tools of one origin (an extension, an MCP server, an ATIP document). */
export type ToolSet = {
  source: ToolSource;
  origin: string;
  descriptors: Descriptor[];
  enabled?: boolean;
};

/**
 * Replaces the tools of an origin: new ones are added, missing ones removed, and every change of a descriptor is audited with both
 * hashes. An empty list removes them all. After the commit, the caller must notify the other processes:
 * `relay.publish('refresh', ['tools'])`.
 */
export const replaceTools = (store: Store, by: Actor, set: ToolSet): Promise<ToolChanges> =>
  store.db.transaction().execute((db) => replaceToolsIn(db, by, set));

/** The same within the caller's transaction. */
export async function replaceToolsIn(db: Db, by: Actor, set: ToolSet): Promise<ToolChanges> {
  const { source, origin, enabled = true } = set;
  // Without the lock, two concurrent changes of an origin would each compare with the tools before the other.
  await sql`SELECT pg_advisory_xact_lock(hashtext(${`tools:${source}:${origin}`}))`.execute(db);
  const before = new Map((await toolHashes(db, source, origin)).map((row) => [row.tool_id, row.descriptor_hash]));
  const after = new Map(set.descriptors.map((one) => [one.tool_id, { descriptor: one, hash: hashJson(one) }]));
  const removed = [...before.keys()].filter((tool_id) => !after.has(tool_id));
  const added = [...after.keys()].filter((tool_id) => !before.has(tool_id));
  const changed = [...after].flatMap(([tool_id, { hash }]) =>
    before.has(tool_id) && before.get(tool_id) !== hash ? [tool_id] : [],
  );

  if (removed.length > 0) await db.deleteFrom('tools').where('tool_id', 'in', removed).execute();
  await writeTools(
    db,
    set,
    [...added, ...changed].flatMap((tool_id) => after.get(tool_id) ?? []),
  );
  await sql`
    UPDATE tools SET enabled = NOT enabled WHERE source = ${source} AND origin = ${origin}
      AND enabled IS DISTINCT FROM ${enabled}::boolean`.execute(db);

  const event = (name: string, tool_id: string): AuditEvent => ({
    ...{ tenant: by.tenant, actor: by.actor, event: name, subject: tool_id },
    detail: {
      source,
      origin,
      descriptor_hash_before: before.get(tool_id) ?? null,
      descriptor_hash: after.get(tool_id)?.hash ?? null,
    },
  });
  await appendAudit(db, [
    ...added.map((tool_id) => event('tool.add', tool_id)),
    ...changed.map((tool_id) => event('tool.change', tool_id)),
    ...removed.map((tool_id) => event('tool.remove', tool_id)),
  ]);
  return { added, changed, removed };
}

const toolHashes = (db: Db, source: ToolSource, origin: string) =>
  db
    .selectFrom('tools')
    .select(['tool_id', 'descriptor_hash'])
    .where('source', '=', source)
    .where('origin', '=', origin)
    .execute();

async function writeTools(
  db: Db,
  { source, origin, enabled = true }: ToolSet,
  tools: { descriptor: Descriptor; hash: string }[],
): Promise<void> {
  if (tools.length === 0) return;
  const rows = JSON.stringify(
    tools.map(({ descriptor, hash }) => ({
      tool_id: descriptor.tool_id,
      descriptor: JSON.stringify(descriptor),
      descriptor_hash: hash,
    })),
  );
  const { rows: written } = await sql<{ tool_id: string }>`
    INSERT INTO tools (tool_id, source, origin, descriptor, descriptor_hash, enabled)
    SELECT tool_id, ${source}, ${origin}, descriptor::json, descriptor_hash, ${enabled}
    FROM json_to_recordset(${rows}::json) AS t (tool_id text, descriptor text, descriptor_hash text)
    ON CONFLICT (tool_id) DO UPDATE
    SET descriptor = excluded.descriptor, descriptor_hash = excluded.descriptor_hash, updated_at = now()
    WHERE tools.source = excluded.source AND tools.origin = excluded.origin
    RETURNING tool_id`.execute(db);
  const mine = new Set(written.map((row) => row.tool_id));
  const taken = tools.find(({ descriptor }) => !mine.has(descriptor.tool_id));
  if (taken)
    throw new Failure('ILLEGAL_STATE', {
      detail: `${taken.descriptor.tool_id} is already the id of a tool from elsewhere.`,
    });
}

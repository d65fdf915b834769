import type { Descriptor, Principal } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

type By = Pick<Principal, 'tenant' | 'actor'>;

/** What a server says of a tool, and nothing of what is concluded from it here. */
const saidHash = ({ name, description, input_schema, output_schema }: Descriptor): string =>
  hashJson({ name, description, input_schema, output_schema: output_schema ?? null });

/** A tool that is described otherwise than when somebody took it. */
export type ChangedTool = { tool_id: string; before: Descriptor; after: Descriptor; found_at: string };

/**
 * The tools of a server as they may be used: a tool that is new is taken as it is, and one that is described otherwise than
 * before stays what it was and cannot be called until somebody has looked at it. A server that was harmless when it was added
 * could change what its tools say to a model, or do, at any later time.
 */
export async function pinTools(
  db: Db,
  by: By,
  server: string,
  found: readonly Descriptor[],
  pin: boolean,
): Promise<{ descriptors: Descriptor[]; disabled: string[] }> {
  const rows = await db
    .selectFrom('mcp_pins')
    .select(['tool_id', 'descriptor', 'descriptor_hash', 'found_hash'])
    .where('server', '=', server)
    .execute();
  const pins = new Map(rows.map((row) => [row.tool_id, row]));
  const disabled: string[] = [];
  const descriptors: Descriptor[] = [];
  for (const descriptor of found) {
    const known = pins.get(descriptor.tool_id);
    const hash = saidHash(descriptor);
    if (!known || !pin || known.descriptor_hash === hash) {
      if (known?.descriptor_hash !== hash || known.found_hash !== null) await putPin(db, by, server, descriptor, hash);
      descriptors.push(descriptor);
      continue;
    }
    if (known.found_hash !== hash) await notePinned(db, by, server, descriptor, hash);
    disabled.push(descriptor.tool_id);
    descriptors.push(known.descriptor);
  }
  return { descriptors, disabled };
}

async function putPin(db: Db, { actor }: By, server: string, descriptor: Descriptor, hash: string): Promise<void> {
  await sql`
    INSERT INTO mcp_pins (server, tool_id, descriptor, descriptor_hash, accepted_by)
    VALUES (${server}, ${descriptor.tool_id}, ${JSON.stringify(descriptor)}, ${hash}, ${actor})
    ON CONFLICT (server, tool_id) DO UPDATE SET descriptor = excluded.descriptor, descriptor_hash = excluded.descriptor_hash,
      found = NULL, found_hash = NULL, found_at = NULL, accepted_by = excluded.accepted_by, accepted_at = now()`.execute(
    db,
  );
}

async function notePinned(db: Db, by: By, server: string, descriptor: Descriptor, hash: string): Promise<void> {
  const { tool_id } = descriptor;
  await sql`UPDATE mcp_pins SET found = ${JSON.stringify(descriptor)}, found_hash = ${hash}, found_at = now()
    WHERE server = ${server} AND tool_id = ${tool_id}`.execute(db);
  await appendAudit(db, [{ ...by, event: 'mcp_server.tool_changed', subject: tool_id, detail: { server, hash } }]);
}

export async function listChangedTools(db: Db, server?: string): Promise<(ChangedTool & { server: string })[]> {
  let query = db
    .selectFrom('mcp_pins')
    .select(['server', 'tool_id', 'descriptor', 'found', 'found_at'])
    .where('found', 'is not', null)
    .orderBy('tool_id');
  if (server !== undefined) query = query.where('server', '=', server);
  const rows = await query.execute();
  return rows.flatMap(({ server, tool_id, descriptor, found, found_at }) =>
    found && found_at ? [{ server, tool_id, before: descriptor, after: found, found_at }] : [],
  );
}

/** Somebody has looked: these tools (all by default) are what their server says they are now. Answers which. */
export async function acceptChangedTools(
  store: Store,
  by: By,
  server: string,
  tool_ids?: readonly string[],
): Promise<string[]> {
  return store.db.transaction().execute(async (db) => {
    const only = tool_ids ? sql`AND tool_id = ANY (${[...tool_ids]}::text[])` : sql``;
    const { rows } = await sql<{ tool_id: string; descriptor_hash: string }>`
      UPDATE mcp_pins SET descriptor = found, descriptor_hash = found_hash, found = NULL, found_hash = NULL, found_at = NULL,
        accepted_by = ${by.actor}, accepted_at = now()
      WHERE server = ${server} AND found IS NOT NULL ${only} RETURNING tool_id, descriptor_hash`.execute(db);
    await appendAudit(
      db,
      rows.map(({ tool_id, descriptor_hash }) => ({
        ...{ tenant: by.tenant, actor: by.actor, event: 'mcp_server.tool_accepted', subject: tool_id },
        detail: { server, hash: descriptor_hash },
      })),
    );
    return rows.map(({ tool_id }) => tool_id);
  });
}

export const unpinTools = (db: Db, server: string): Promise<unknown> =>
  db.deleteFrom('mcp_pins').where('server', '=', server).execute();

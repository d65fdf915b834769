import { isDeepStrictEqual } from 'node:util';
import type { Descriptor, Principal } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

type By = Pick<Principal, 'tenant' | 'actor'>;

/** Hashes the description and the schemas. The previous version compares only these. */
const saidHash = ({ name, description, input_schema, output_schema }: Descriptor): string =>
  hashJson({ name, description, input_schema, output_schema: output_schema ?? null });

/** With what its annotations come to: a tool that calls itself harmless all at once would otherwise escape the rules that hold it. */
const pinHash = (tool: Descriptor): string =>
  hashJson({ said: saidHash(tool), risk: tool.risk, effects: { ...tool.effects } });

const FIELDS = ['description', 'input_schema', 'output_schema', 'risk', 'effects'] as const;
const changedFields = (before: Descriptor, after: Descriptor): string[] =>
  FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));

/** A tool whose description has changed since it was accepted. */
export type ChangedTool = { tool_id: string; before: Descriptor; after: Descriptor; found_at: string };

/**
 * Returns the usable tools of a server. A new tool is accepted as it is. A tool with a changed description keeps the accepted one, and its calls are
 * held until somebody has reviewed the change. Otherwise a server that was harmless when it was added could later change what its tools tell a model,
 * or what they do.
 */
export async function pinTools(
  db: Db,
  by: By,
  server: string,
  found: readonly Descriptor[],
  pin: boolean,
): Promise<Descriptor[]> {
  const rows = await db
    .selectFrom('mcp_pins')
    .select(['tool_id', 'descriptor', 'found'])
    .where('server', '=', server)
    .execute();
  const pins = new Map(rows.map((row) => [row.tool_id, row]));
  const descriptors: Descriptor[] = [];
  for (const descriptor of found) {
    const known = pins.get(descriptor.tool_id);
    const hash = pinHash(descriptor);
    const isSame = known !== undefined && pinHash(known.descriptor) === hash;
    if (!known || !pin || isSame) {
      if (!isSame || known.found !== null) await putPin(db, by, server, descriptor);
      descriptors.push(descriptor);
      continue;
    }
    if (!known.found || pinHash(known.found) !== hash) await notePinned(db, by, server, descriptor);
    descriptors.push({ ...known.descriptor, changed: { fields: changedFields(known.descriptor, descriptor), hash } });
  }
  return descriptors;
}

async function putPin(db: Db, { actor }: By, server: string, descriptor: Descriptor): Promise<void> {
  const hash = saidHash(descriptor);
  await sql`
    INSERT INTO mcp_pins (server, tool_id, descriptor, descriptor_hash, accepted_by)
    VALUES (${server}, ${descriptor.tool_id}, ${JSON.stringify(descriptor)}, ${hash}, ${actor})
    ON CONFLICT (server, tool_id) DO UPDATE SET descriptor = excluded.descriptor, descriptor_hash = excluded.descriptor_hash,
      found = NULL, found_hash = NULL, found_at = NULL, accepted_by = excluded.accepted_by, accepted_at = now()`.execute(
    db,
  );
}

async function notePinned(db: Db, by: By, server: string, descriptor: Descriptor): Promise<void> {
  const { tool_id } = descriptor;
  const hash = saidHash(descriptor);
  await sql`UPDATE mcp_pins SET found = ${JSON.stringify(descriptor)}, found_hash = ${hash}, found_at = now()
    WHERE server = ${server} AND tool_id = ${tool_id}`.execute(db);
  await appendAudit(db, [
    { ...by, event: 'mcp_server.tool_changed', subject: tool_id, detail: { server, hash: pinHash(descriptor) } },
  ]);
}

/** The unreviewed change of a tool. */
export async function findChangedTool(db: Db, tool_id: string): Promise<ChangedTool | undefined> {
  const row = await db
    .selectFrom('mcp_pins')
    .select(['descriptor', 'found', 'found_at'])
    .where('tool_id', '=', tool_id)
    .executeTakeFirst();
  return row?.found && row.found_at
    ? { tool_id, before: row.descriptor, after: row.found, found_at: row.found_at }
    : undefined;
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

/** Which changes to accept; by default all of the server. `found_until`: none that were found later. */
export type Acceptance = { tools?: readonly string[] | undefined; found_until?: string | undefined };

/** Accepts the changed descriptions of tools. Returns the accepted tools. */
export async function acceptChangedTools(
  store: Store,
  by: By,
  server: string,
  { tools, found_until }: Acceptance = {},
): Promise<string[]> {
  return store.db.transaction().execute(async (db) => {
    const only = tools ? sql`AND tool_id = ANY (${[...tools]}::text[])` : sql``;
    const seen = found_until === undefined ? sql`` : sql`AND found_at <= ${found_until}::timestamptz`;
    const { rows } = await sql<{ tool_id: string; descriptor_hash: string }>`
      UPDATE mcp_pins SET descriptor = found, descriptor_hash = found_hash, found = NULL, found_hash = NULL, found_at = NULL,
        accepted_by = ${by.actor}, accepted_at = now()
      WHERE server = ${server} AND found IS NOT NULL ${only} ${seen} RETURNING tool_id, descriptor_hash`.execute(db);
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

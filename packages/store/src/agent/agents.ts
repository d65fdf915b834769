import type { Agent, AgentChange, NewAgent, Page, Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf } from '../page-of.js';

const columns = ['agent_id', 'seq', 'definition', 'version', 'created_at', 'updated_at'] as const;
type Row = Pick<Agent, 'agent_id' | 'version' | 'created_at' | 'updated_at'> & { seq: string; definition: NewAgent };

const toAgent = ({ definition, seq: _, ...row }: Row): Agent => ({ ...row, id: row.agent_id, ...definition });

export async function createAgent(store: Store, by: Principal, definition: NewAgent): Promise<Agent> {
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .insertInto('agents')
      .values({
        agent_id: `agt_${nanoid()}`,
        tenant: by.tenant,
        definition: JSON.stringify(definition),
        created_by: by.actor,
      })
      .returning(columns)
      .executeTakeFirstOrThrow();
    await audit(db, by, 'agent.create', row.agent_id);
    return toAgent(row);
  });
}

export async function getAgent(db: Db, tenant: string, agent_id: string): Promise<Agent | undefined> {
  const row = await db
    .selectFrom('agents')
    .select(columns)
    .where('agent_id', '=', agent_id)
    .where('tenant', '=', tenant)
    .executeTakeFirst();
  return row && toAgent(row);
}

/** Newest first; the cursor is the last row's sequence number. */
export async function listAgents(db: Db, tenant: string, page: PageWanted): Promise<Page<Agent>> {
  let query = db
    .selectFrom('agents')
    .select(columns)
    .where('tenant', '=', tenant)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1);
  if (page.cursor) query = query.where('seq', '<', page.cursor);
  const rows = await query.execute();
  return pageOf(rows, page.limit, toAgent);
}

/** `check` gets the changed agent while its row is locked. If it throws, nothing is changed. */
export async function changeAgent(
  store: Store,
  by: Principal,
  agent_id: string,
  change: AgentChange,
  check: (agent: NewAgent) => void,
): Promise<Agent | undefined> {
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .selectFrom('agents')
      .select(columns)
      .where('agent_id', '=', agent_id)
      .where('tenant', '=', by.tenant)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return undefined;
    const definition: NewAgent = { ...row.definition, ...withoutUndefined(change) };
    check(definition);
    const changed = await db
      .updateTable('agents')
      .set({
        definition: JSON.stringify(definition),
        version: row.version + 1,
        updated_at: sql<string>`now()`,
      })
      .where('agent_id', '=', agent_id)
      .returning(columns)
      .executeTakeFirstOrThrow();
    await audit(db, by, 'agent.change', agent_id, { version: changed.version });
    return toAgent(changed);
  });
}

export async function deleteAgent(store: Store, by: Principal, agent_id: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const deleted = await db
      .deleteFrom('agents')
      .where('agent_id', '=', agent_id)
      .where('tenant', '=', by.tenant)
      .returning('agent_id')
      .executeTakeFirst();
    if (deleted) await audit(db, by, 'agent.delete', agent_id);
    return deleted !== undefined;
  });
}

const withoutUndefined = <T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  JSON.parse(JSON.stringify(value));

const audit = (
  db: Db,
  { tenant, actor }: Principal,
  event: string,
  subject: string,
  detail: { version?: number } = {},
) => appendAudit(db, [{ tenant, actor, event, subject, detail: { ...detail } }]);

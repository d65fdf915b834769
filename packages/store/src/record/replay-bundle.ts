import { Failure, type Principal, Run } from '@capstan/contracts';
import { type Row, readBundleLine, utc } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { runPolicyName } from '../policy/policies.js';
import { insertBundledCalls, type RecordLine } from './bundled-calls.js';
import { readBundleLines } from './bundles.js';
import { keepDescriptors } from './documents.js';
import { jsonText } from './json-text.js';
import { insertReplay } from './replay-run.js';

const BATCH = 200;

/** Replays a run of another installation: its rows become a run in the caller's tenant. */
export async function replayBundle(store: Store, by: Principal, bundle_id: string, run_id: string): Promise<Run> {
  return store.db.transaction().execute(async (db) => {
    const batch: RecordLine[] = [];
    let of: Run | null = null;
    let calls = 0;
    const flush = async () => {
      await insertSteps(db, run_id, batch);
      calls += await insertBundledCalls(db, by, run_id, batch, calls);
      batch.length = 0;
    };
    let number = 0;
    for await (const text of readBundleLines(db, bundle_id)) {
      number += 1;
      const line = readBundleLine(text, number);
      if (line.line === 'policy') await keepPolicy(db, line.hash, line.value);
      else if (line.line === 'descriptor')
        await keepDescriptors(db, [{ descriptor: line.value, descriptor_hash: line.hash }]);
      else if (line.line === 'record' || line.line === 'entry') {
        if (!of) {
          of = runOf(line);
          await insertReplay(db, by, run_id, of);
          await insertPlan(db, by, run_id, line.tables.plan_runs?.[0]);
        }
        batch.push(line);
        if (batch.length >= BATCH) await flush();
      }
    }
    await flush();
    if (!of) throw new Failure('BUNDLE_INVALID', { detail: `${bundle_id} holds no record.` });
    await appendAudit(db, [
      {
        tenant: by.tenant,
        actor: by.actor,
        event: 'run.replay',
        subject: run_id,
        detail: { bundle_id, replay_of: of.run_id },
      },
    ]);
    return of;
  });
}

/** The first record is that of the run. For a lone invocation, its record is used. */
function runOf({ tables, id }: RecordLine): Run {
  const [row] = tables.runs ?? [];
  if (row)
    return Run.parse({ ...row, held_steps: 0, ...numbersOf(row), ...timesOf(row), status: row.status ?? 'completed' });
  const [invocation] = tables.invocations ?? [];
  const end: Row = { ...invocation, ...tables.results?.[0] };
  const is = (...all: string[]) => (all.includes(String(end.status)) ? 1 : 0);
  return Run.parse({
    ...{ run_id: id.replace(/^inv_/, 'run_'), kind: 'lone', status: 'completed', actor: invocation?.actor },
    ...{ mode: 'execution', replay_of: null, name: null, plan_hash: null, policy_hash: invocation?.policy_hash },
    ...{ reason: null, total_steps: 1, skipped_steps: 0, held_steps: 0, completed_steps: is('succeeded') },
    ...{ denied_steps: is('denied', 'rejected'), canceled_steps: is('canceled') },
    failed_steps: is('failed', 'timed_out', 'expired', 'ambiguous'),
    ...timesOf({ created_at: invocation?.created_at, finished_at: end.finished_at }),
  });
}

const numbersOf = (row: Row) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (/_steps$/.test(name) ? [[name, Number(value)]] : [])),
  );
const timesOf = ({ created_at, finished_at }: Row) => ({
  created_at: timeOf(created_at),
  finished_at: timeOf(finished_at),
});
const timeOf = (value: unknown): unknown => (typeof value === 'string' ? utc(value) : value);

async function keepPolicy(db: Db, hash: string, value: unknown): Promise<void> {
  await sql`INSERT INTO policies (name, version, policy_hash, document, created_by)
    VALUES (${runPolicyName(hash)}, 1, ${hash}, ${jsonText(value)}::text::json, 'bundle')
    ON CONFLICT DO NOTHING`.execute(db);
}

async function insertPlan(db: Db, by: Principal, run_id: string, row: Row | undefined): Promise<void> {
  if (!row) return;
  await sql`
    INSERT INTO plan_runs (run_id, active, tenant, actor, roles, plan, plan_hash, policy_hash, inputs, max_parallel, labels, unended)
    VALUES (${run_id}, false, ${by.tenant}, ${row.actor}, ${row.roles}, ${jsonText(row.plan)}::text::json, ${row.plan_hash}, ${row.policy_hash},
      ${jsonText(row.inputs)}::text::json, ${row.max_parallel}, ${jsonText(row.labels)}::text::json, 0)`.execute(db);
}

async function insertSteps(db: Db, run_id: string, lines: readonly RecordLine[]): Promise<void> {
  const rows = lines.flatMap(({ tables }) =>
    (tables.steps ?? []).map((row: Row) => ({ unmet: 0, ...row, item: row.item === null ? null : jsonText(row.item) })),
  );
  if (rows.length === 0) return;
  await sql`
    INSERT INTO steps (run_id, step, element, step_id, name, tool_id, status, unmet, seq, item, has_invocation, reason, elements, unended,
      unsuccessful, reused_from)
    SELECT ${run_id}, step, element, step_id, name, tool_id, status, unmet, seq, item::json, has_invocation, reason, elements, unended,
      unsuccessful, reused_from
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS s (step int, element int, step_id text, name text, tool_id text, status text,
      unmet int, seq int, item text, has_invocation boolean, reason text, elements int, unended int, unsuccessful int, reused_from text)`.execute(
    db,
  );
}

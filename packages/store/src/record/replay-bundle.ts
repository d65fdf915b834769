import { Failure, type Principal, Run } from '@capstan/contracts';
import { type BundleLine, type Row, readBundleLine } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { runPolicyName } from '../policy/policies.js';
import { readBundleLines } from './bundles.js';
import { keepDescriptors } from './documents.js';
import { insertReplay } from './replay-run.js';

type RecordLine = Extract<BundleLine, { line: 'record' }>;
const BATCH = 200;

/** Replays a run of another installation: its rows become those of a run here, in the tenant of whoever asks. */
export async function replayBundle(store: Store, by: Principal, bundle_id: string, run_id: string): Promise<Run> {
  return store.db.transaction().execute(async (db) => {
    const batch: RecordLine[] = [];
    let of: Run | null = null;
    const flush = async () => {
      await insertSteps(db, run_id, batch);
      await insertInvocations(db, by, run_id, batch);
      batch.length = 0;
    };
    let number = 0;
    for await (const text of readBundleLines(db, bundle_id)) {
      number += 1;
      const line = readBundleLine(text, number);
      if (line.line === 'policy') await keepPolicy(db, line.hash, line.value);
      else if (line.line === 'descriptor')
        await keepDescriptors(db, [{ descriptor: line.value, descriptor_hash: line.hash }]);
      else if (line.line === 'record') {
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

/** The run's own record is the first; that of a lone invocation tells the same. */
function runOf({ tables, id }: RecordLine): Run {
  const [row] = tables.runs ?? [];
  if (row) return Run.parse({ ...row, status: row.status ?? 'completed' });
  const [invocation] = tables.invocations ?? [];
  const status = String(invocation?.status);
  const is = (...all: string[]) => (all.includes(status) ? 1 : 0);
  return Run.parse({
    ...{
      run_id: id.replace(/^inv_/, 'run_'),
      kind: 'lone',
      status: 'completed',
      actor: invocation?.actor,
      mode: 'execution',
    },
    ...{
      replay_of: null,
      name: null,
      plan_hash: null,
      policy_hash: invocation?.policy_hash,
      reason: null,
      total_steps: 1,
    },
    ...{ completed_steps: is('succeeded'), denied_steps: is('denied', 'rejected'), canceled_steps: is('canceled') },
    ...{ failed_steps: is('failed', 'timed_out', 'expired', 'ambiguous'), skipped_steps: 0 },
    ...{ created_at: invocation?.created_at, finished_at: invocation?.finished_at },
  });
}

async function keepPolicy(db: Db, hash: string, value: unknown): Promise<void> {
  await sql`INSERT INTO policies (name, version, policy_hash, document, created_by)
    VALUES (${runPolicyName(hash)}, 1, ${hash}, ${text(value)}::text::json, 'bundle')
    ON CONFLICT DO NOTHING`.execute(db);
}

async function insertPlan(db: Db, by: Principal, run_id: string, row: Row | undefined): Promise<void> {
  if (!row) return;
  await sql`
    INSERT INTO plan_runs (run_id, active, tenant, actor, roles, plan, plan_hash, policy_hash, inputs, max_parallel, labels, unended)
    VALUES (${run_id}, false, ${by.tenant}, ${row.actor}, ${row.roles}, ${text(row.plan)}::text::json, ${row.plan_hash}, ${row.policy_hash},
      ${text(row.inputs)}::text::json, ${row.max_parallel}, ${text(row.labels)}::text::json, 0)`.execute(db);
}

/** JSON travels as text within JSON: Postgres' JSON functions refuse \u0000, its `json` type does not. */
const text = (value: unknown): string => JSON.stringify(value ?? null);

async function insertSteps(db: Db, run_id: string, lines: readonly RecordLine[]): Promise<void> {
  const rows = lines.flatMap(({ tables }) =>
    (tables.steps ?? []).map((row) => ({ ...row, item: row.item === null ? null : text(row.item) })),
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

async function insertInvocations(db: Db, by: Principal, run_id: string, lines: readonly RecordLine[]): Promise<void> {
  const found = lines.filter(({ kind }) => kind === 'invocation');
  if (found.length === 0) return;
  const nano = run_id.slice('run_'.length);
  const id = ({ id: old, place }: RecordLine) =>
    `inv_${nano}${/^inv_[\w-]{21}(-\d+(?:-\d+)?)$/.exec(old)?.[1] ?? `-${place}`}`;
  const invocations = found.flatMap((line) =>
    (line.tables.invocations ?? []).map((row) => ({
      ...{
        ...row,
        invocation_id: id(line),
        inputs: text(row.inputs),
        decision: text(row.decision),
        labels: text(row.labels),
      },
    })),
  );
  await sql`
    INSERT INTO invocations (invocation_id, run_id, tenant, finished_at, actor, roles, tool_id, runner, inputs, input_hash, descriptor_hash,
      policy_hash, decision, mode, session_id, idempotent, spec_frozen, spec_hash, priority, timeout_ms, max_attempts, labels, status)
    SELECT invocation_id, ${run_id}, ${by.tenant}, now(), actor, roles, tool_id, runner, inputs::json, input_hash, descriptor_hash,
      policy_hash, decision::json, mode, session_id, idempotent, spec_frozen, spec_hash, priority, timeout_ms, max_attempts, labels::jsonb, status
    FROM json_to_recordset(${JSON.stringify(invocations)}::json) AS i (invocation_id text, actor text, roles text[], tool_id text,
      runner text, inputs text, input_hash text, descriptor_hash text, policy_hash text, decision text, mode text, session_id text,
      idempotent boolean, spec_frozen boolean, spec_hash text, priority int, timeout_ms int, max_attempts int, labels text, status text)`.execute(
    db,
  );
  const results = found.flatMap((line) =>
    (line.tables.results ?? []).map((row) => ({
      ...{
        ...row,
        invocation_id: id(line),
        payload: row.removed_at ? null : text(row.payload),
        declared_side_effects: text(row.declared_side_effects),
      },
      ...{ artifacts: text(row.artifacts), facts: row.facts === null ? null : text(row.facts) },
    })),
  );
  await sql`
    INSERT INTO results (invocation_id, attempt, success, payload, error, code, declared_side_effects, artifacts, facts, duration_ms,
      exit_code, truncated, input_hash, output_hash, removed_at)
    SELECT invocation_id, attempt, success, payload::json, error, code, declared_side_effects::json, artifacts::json, facts::json,
      duration_ms, exit_code, truncated, input_hash, output_hash, removed_at
    FROM json_to_recordset(${JSON.stringify(results)}::json) AS r (invocation_id text, attempt int, success boolean, payload text,
      error text, code int, declared_side_effects text, artifacts text, facts text, duration_ms float8, exit_code int, truncated boolean,
      input_hash text, output_hash text, removed_at timestamptz)`.execute(db);
}

import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { isRunOver, type JsonObject } from '@capstan/contracts';
import { RECORD_COLUMNS, UNCOVERED, verifyBundle } from '@capstan/integrity';
import { sql } from 'kysely';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const [postgres] = queues.filter(({ name }) => name !== 'redis');
if (!postgres) throw new Error('there is no queue on Postgres');
const add = (a: number, b = 1) => ({ tool_id: 'cap:test_math:add', inputs: { a, b } });

let system: System;
beforeAll(async () => {
  system = await startSystem(postgres);
  await system.admin.policies.put('default', ALLOW_ALL);
});

async function endedBulk(count: number): Promise<string> {
  const { run_id } = await system.admin.submitBulk(Array.from({ length: count }, (_, index) => add(index)));
  await eventually(async () => expect((await system.admin.runs.get(run_id)).finished_at).not.toBeNull(), {
    timeout_ms: 20_000,
  });
  return run_id;
}

const PLAN = {
  version: '1.0',
  name: 'sums',
  steps: [
    { id: 'one', tool: 'cap:test_math:add', args: { a: 1, b: 2 } },
    { id: 'many', tool: 'cap:test_math:add', for_each: [1, 2], args: { a: '${{ item }}', b: 3 } },
    { id: 'never', tool: 'cap:test_math:add', when: '${{ steps.one.output.result == 0 }}', args: { a: 1, b: 1 } },
  ],
};

async function endedPlan(): Promise<string> {
  const { run_id } = await system.admin.runs.submit({ plan: PLAN });
  const run = await system.admin.runs.wait(run_id, { timeout_s: 20 });
  expect(run.status).toBe('completed');
  return run_id;
}

const sealed = (run_id: string) =>
  eventually(async () => {
    const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM seals WHERE run_id = ${run_id}`.execute(
      system.store.db,
    );
    expect(rows[0]?.n).toBe(1);
  });

describe('a run that has ended', () => {
  test('is sealed by itself, verifies, and its results name their links', async () => {
    const run_id = await endedBulk(1200);
    await sealed(run_id);
    const verification = await system.admin.records.verify(run_id);
    expect(verification).toMatchObject({ ok: true, checked: 1201, mismatches: [], seal: { run_id, count: 1201 } });
    const [last] = (await system.admin.list({ run_id, limit: 1 }).page()).items;
    expect(last?.result?.chain_hash).toBe(verification.seal?.root);
  });

  test('is sealed at once when somebody asks, also a lone invocation', async () => {
    const { invocation_id, run_id } = await system.admin.submit(add(1), { wait_s: 20 });
    expect(await system.admin.records.verify(run_id)).toMatchObject({
      ok: true,
      checked: 1,
      seal: { last_id: invocation_id },
    });
  });

  test('is not verified before its end', async () => {
    const { run_id } = await system.admin.submit({ ...add(1), delay_ms: 600_000 });
    await expect(system.admin.records.verify(run_id)).rejects.toMatchObject({ code: 4001 });
  });
});

describe('tampering', () => {
  type Column = { table: string; column: string; type: string };
  /** The column by which rows of a run are found in each table. */
  const KEYS: Record<string, string> = {
    ...{ runs: 'run_id', plan_runs: 'run_id', steps: 'run_id', seals: 'run_id', seal_links: 'run_id' },
    ...{ invocations: 'invocation_id', attempts: 'invocation_id', results: 'invocation_id' },
  };
  /** Another value of each type than the one there is. */
  const other = ({ column, type }: Column): string =>
    ({
      ...{
        int8: `coalesce("${column}", 0) + 100000`,
        text: `coalesce("${column}", '') || 'x'`,
        int4: `coalesce("${column}", 0) + 100000`,
        float8: `"${column}" + 1`,
      },
      ...{
        bool: `NOT coalesce("${column}", false)`,
        json: `'{"other": 1}'`,
        jsonb: `'{"other": "1"}'`,
        _text: `ARRAY['other']`,
      },
      timestamptz: `coalesce("${column}", now()) + interval '1 second'`,
    })[type] ?? `no other value for ${type}`;

  /** As whoever owns the database can: without triggers and checks. */
  async function openDirect(): Promise<pg.Client> {
    const direct = new pg.Client({ connectionString: system.database.url });
    await direct.connect();
    atEnd(() => direct.end());
    await direct.query('SET session_replication_role = replica');
    const { rows } = await direct.query<{ drop: string }>(
      `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop FROM pg_constraint
       WHERE contype = 'c' AND conrelid::regclass::text = ANY ($1)`,
      [[...Object.keys(KEYS), 'holds', 'hold_entries']],
    );
    for (const { drop } of rows) await direct.query(drop);
    return direct;
  }

  /** Changes one field of one row of the run, and answers how to undo it. */
  async function change(direct: pg.Client, where: string, one: Column): Promise<() => Promise<unknown>> {
    const { table, column, type } = one;
    const { rows } = await direct.query<{ ctid: string; was: string | null }>(
      `SELECT ctid::text, "${column}"::text AS was FROM ${table} WHERE ${where} ORDER BY ctid LIMIT 1`,
    );
    const { rows: changed } = await direct.query<{ ctid: string }>(
      `UPDATE ${table} SET "${column}" = ${other(one)} WHERE ctid = '${rows[0]?.ctid}' RETURNING ctid::text`,
    );
    const as = type === '_text' ? 'text[]' : type;
    return () =>
      direct.query(`UPDATE ${table} SET "${column}" = $1::text::${as} WHERE ctid = '${changed[0]?.ctid}'`, [
        rows[0]?.was,
      ]);
  }

  test('with any column of any row is named, and undone it verifies again', async () => {
    const run_id = await endedPlan();
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
    const direct = await openDirect();
    const { rows: columns } = await direct.query<Column>(
      `SELECT table_name AS table, column_name AS column, udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = ANY ($1)`,
      [Object.keys(KEYS)],
    );
    const missed: string[] = [];
    for (const one of columns) {
      const { table, column } = one;
      if (UNCOVERED[table]?.[column] !== undefined && !['chain_hash', 'payload'].includes(column)) continue;
      // The reason for which a seal was voided says nothing of a seal in force.
      if (column === 'void_reason') continue;
      const ids = `SELECT invocation_id FROM invocations WHERE run_id = '${run_id}'`;
      const where = KEYS[table] === 'run_id' ? `run_id = '${run_id}'` : `invocation_id IN (${ids})`;
      const undo = await change(direct, where, one);
      const told = await system.admin.records.verify(run_id).then(
        ({ mismatches }) => mismatches.map((each) => `${each.table}.${each.field}`),
        ({ code }: { code: number }) => [`refused ${code}`],
      );
      const named = told.some((each) => [`${table}.${column}`, `${table}.row`].includes(each));
      // Without its id, its tenant or its end a run is not found, or not over; a seal vouches for itself as a whole.
      const refused = [
        'runs.run_id refused 3004',
        'runs.tenant refused 3004',
        'runs.status refused 4001',
        'runs.kind refused 3004',
      ];
      const as_a_whole = table.startsWith('seal') && told.some((each) => each.startsWith('seal'));
      if (!named && !as_a_whole && !refused.includes(`${table}.${column} ${told[0]}`))
        missed.push(`${table}.${column}: ${told}`);
      await undo();
    }
    expect(missed).toEqual([]);
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
  });

  test('with what was released, by whom and why, is named as well', async () => {
    const { invocation_id, run_id } = await system.admin.submit(add(8), { wait_s: 20 });
    const direct = await openDirect();
    await direct.query(`INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, status, expires_in_ms, expires_at, decided_at, decided_by, approved_input_hash)
      VALUES ('hld_1', '${invocation_id}', 'default', 'admin', 'cap:test_math:add', 'released', 1000, now(), now(), 'eve', 'sha256:1')`);
    await direct.query(
      `INSERT INTO hold_entries (hold_id, actor, kind, round, comment) VALUES ('hld_1', 'eve', 'release', 1, 'fine')`,
    );
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true, checked: 1 });
    const { rows: columns } = await direct.query<Column>(
      `SELECT table_name AS table, column_name AS column, udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name IN ('holds', 'hold_entries')`,
    );
    for (const one of columns) {
      const { table, column } = one;
      if (UNCOVERED[table]?.[column] !== undefined) continue;
      const undo = await change(direct, `hold_id = 'hld_1'`, one);
      const told = (await system.admin.records.verify(run_id)).mismatches.map((each) => `${each.table}.${each.field}`);
      // A hold that is no more this invocation's, or an entry no more this hold's, is a row that is gone.
      expect(
        [`${table}.${column}`, `${table}.row`].some((each) => told.includes(each)),
        `${table}.${column}: ${told}`,
      ).toBe(true);
      await undo();
    }
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
  });

  test('every column is either covered or left out for a reason', async () => {
    const { rows } = await sql<Column>`
      SELECT table_name AS table, column_name AS column FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ANY (${Object.keys(RECORD_COLUMNS)})`.execute(system.store.db);
    const known = (table: string): string[] => [
      ...(Object.entries(RECORD_COLUMNS).find(([name]) => name === table)?.[1] ?? []),
      ...Object.keys(UNCOVERED[table] ?? {}),
    ];
    expect(rows.filter(({ table, column }) => !known(table).includes(column))).toEqual([]);
  });

  test('a dropped invocation, two that changed places, one that was added, a changed policy and a lost seal are named', async () => {
    const { db } = system.store;
    const run_id = await endedBulk(5);
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
    const { items } = await system.admin.list({ run_id }).page();
    const [a, b] = items.map(({ invocation_id }) => invocation_id);
    const found = async () =>
      (await system.admin.records.verify(run_id)).mismatches.map(({ table, row, field }) => `${table} ${row} ${field}`);
    await sql`UPDATE invocations SET seq = DEFAULT WHERE invocation_id = ${b}`.execute(db);
    expect(await found()).toEqual([`invocations ${a} seq`]);

    await sql`DELETE FROM results WHERE invocation_id = ${b}`.execute(db);
    expect(await found()).toContain(`results ${b} row`);
    await sql`DELETE FROM invocations WHERE invocation_id = ${b}`.execute(db);
    expect(await found()).toEqual([`invocations ${b} row`]);

    const other = await endedBulk(1);
    await sql`UPDATE invocations SET run_id = ${run_id} WHERE run_id = ${other}`.execute(db);
    expect((await found()).filter((one) => one.endsWith('row'))).toHaveLength(2);

    await sql`DELETE FROM seals WHERE run_id = ${run_id}`.execute(db);
    expect(await found()).toEqual([`seals ${run_id} row`]);

    const [policy] = (
      await sql<{ hash: string }>`SELECT policy_hash AS hash FROM invocations WHERE invocation_id = ${a}`.execute(db)
    ).rows;
    const lone = await system.admin.submit(add(3), { wait_s: 20 });
    await sql`UPDATE policies SET document = '{"version": "1.0", "boundary": "allow"}' WHERE policy_hash = ${policy?.hash}`.execute(
      db,
    );
    expect((await system.admin.records.verify(lone.run_id)).mismatches).toMatchObject([
      { table: 'policies', row: policy?.hash, field: 'document' },
    ]);
    await sql`UPDATE policies SET document = ${JSON.stringify(ALLOW_ALL)} WHERE policy_hash = ${policy?.hash}`.execute(
      db,
    );
  });
});

describe('a redrive after the seal', () => {
  test('voids it with a reason, and the run is sealed again', async () => {
    const { run_id } = await system.admin.submitBulk([{ tool_id: 'shell.run', inputs: { cmd: ['false'] } }]);
    await eventually(async () => expect((await system.admin.runs.get(run_id)).finished_at).not.toBeNull());
    await sealed(run_id);
    const [one] = (await system.admin.list({ run_id }).page()).items;
    await system.admin.redrive(one?.invocation_id ?? '');
    await eventually(async () => {
      const again = await system.admin.records.verify(run_id);
      expect(again).toMatchObject({
        ok: true,
        seal: { generation: 2 },
        voided: [{ generation: 1, void_reason: 'redriven' }],
      });
    });
  });
});

describe('a bundle', () => {
  test('is the same bytes each time, is checked without a server, and a changed byte is named', async () => {
    const run_id = await endedPlan();
    const bundle = await text(await system.admin.records.bundle(run_id));
    expect(await text(await system.admin.records.bundle(run_id))).toBe(bundle);
    const lines = bundle.split('\n');
    expect(await verifyBundle(lines)).toMatchObject({ ok: true, run_id, mismatches: [] });
    const forged = bundle.replace('"payload":{"result":3}', '"payload":{"result":4}').split('\n');
    const verdict = await verifyBundle(forged);
    expect(verdict.ok).toBe(false);
    expect(verdict.mismatches.map(({ table, field }) => `${table}.${field}`)).toEqual(['results.payload']);
    await expect(verifyBundle(lines.slice(0, -2))).rejects.toThrow('cut off');
    await expect(system.admin.records.importBundle(forged.join('\n'))).rejects.toMatchObject({ code: 4004 });
  });

  test('is replayed by another installation with equal hashes', async () => {
    const elsewhere = await startSystem(postgres);
    for (const run_id of [await endedPlan(), await endedBulk(300)]) {
      const bundle = await text(await system.admin.records.bundle(run_id));
      const { bundle_id } = await elsewhere.admin.records.importBundle(bundle);
      const replay = await elsewhere.admin.records.replayBundle(bundle_id);
      expect(await elsewhere.admin.runs.get(replay.run_id)).toMatchObject({ mode: 'replay', replay_of: run_id });
      expect(await hashes(elsewhere, replay.run_id)).toEqual(await hashes(system, run_id));
      expect(await elsewhere.admin.records.verify(replay.run_id)).toMatchObject({ ok: true, mismatches: [] });
    }
  });
});

async function hashes({ admin }: System, run_id: string): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const step of admin.runs.steps(run_id, { limit: 1000 }))
    all.push([step.tool_id, step.status, step.result?.input_hash, step.result?.output_hash]);
  return all;
}

describe('a replay', () => {
  test('has the stored results in the stored order, executes nothing, and verifies', async () => {
    const run_id = await endedPlan();
    const { plan_hash } = await system.admin.runs.get(run_id);
    await expect(system.admin.records.replay(run_id, { plan_hash: `sha256:${'0'.repeat(64)}` })).rejects.toMatchObject({
      code: 4002,
    });
    const replay = await system.admin.records.replay(run_id, plan_hash === null ? {} : { plan_hash });
    expect(await system.admin.runs.get(replay.run_id)).toMatchObject({
      mode: 'replay',
      replay_of: run_id,
      status: 'completed',
      plan_hash,
    });
    expect(await hashes(system, replay.run_id)).toEqual(await hashes(system, run_id));
    const { rows } =
      await sql`SELECT FROM attempts a JOIN invocations i USING (invocation_id) WHERE i.run_id = ${replay.run_id}`.execute(
        system.store.db,
      );
    expect(rows).toHaveLength(0);
    expect(await system.admin.records.verify(replay.run_id)).toMatchObject({ ok: true });
    const lone = await system.admin.submit(add(5), { wait_s: 20 });
    const again = await system.admin.records.replay(lone.run_id);
    expect((await system.admin.list({ run_id: again.run_id }).page()).items).toMatchObject([
      { result: { payload: { result: 6 } } },
    ]);
  });
});

describe('a replay from a step', () => {
  const now = (id: string, needs: string[] = []) => ({ id, tool: 'cap:current_time:get_current_time', needs });
  const BRANCHES = {
    version: '1.0',
    name: 'branches',
    steps: [
      now('first'),
      { ...now('beside'), for_each: [1, 2] },
      now('again', ['first']),
      { id: 'last', tool: 'cap:test_math:add', needs: ['again', 'beside'], args: { a: 1, b: 1 } },
    ],
  };
  const stepsOf = async (run_id: string) => (await system.admin.runs.steps(run_id).page()).items;
  const ended = async (plan: JsonObject) => {
    const { run_id } = await system.admin.runs.submit({ plan });
    return system.admin.runs.wait(run_id, { timeout_s: 20 });
  };

  test('executes it and what follows, with the results of the others, and a replay of that is told alike', async () => {
    const { run_id } = await ended(BRANCHES);
    const answer = await system.admin.records.replay(run_id, { from: 'again' });
    expect(answer).toMatchObject({ mode: 'execution', replay_of: run_id, total_steps: 5, reused_steps: 3 });
    const run = await system.admin.runs.wait(answer.run_id, { timeout_s: 20 });
    expect(run).toMatchObject({ status: 'completed', replay_of: run_id, completed_steps: 5, total_steps: 5 });
    const [was, is] = [await stepsOf(run_id), await stepsOf(answer.run_id)];
    expect(is.map(({ step_id, reused_from }) => [step_id, reused_from])).toEqual([
      ['first', run_id],
      ['beside', run_id],
      ['beside', run_id],
      ['again', null],
      ['last', null],
    ]);
    const same = is.map(({ result }, at) => result?.output_hash === was[at]?.result?.output_hash);
    expect(same).toEqual([true, true, true, false, true]);
    expect(await system.admin.records.verify(answer.run_id)).toMatchObject({ ok: true });
    const { steps } = await system.admin.records.report(answer.run_id);
    expect(steps.map(({ reused_from }) => reused_from !== null)).toEqual([true, true, true, false, false]);
    const again = await system.admin.records.replay(answer.run_id, { from: 'last' });
    await system.admin.runs.wait(again.run_id, { timeout_s: 20 });
    expect((await stepsOf(again.run_id)).map(({ reused_from }) => reused_from)).toEqual([
      ...[run_id, run_id, run_id, answer.run_id, null],
    ]);
  });

  test('goes on after a failure, decides by the policy in force, and is refused where nothing can follow', async () => {
    const { run_id, status } = await ended({
      version: '1.0',
      steps: [
        now('first'),
        { id: 'broken', tool: 'shell.run', needs: ['first'], args: { cmd: ['false'] } },
        now('last', ['broken']),
      ],
    });
    expect(status).toBe('failed');
    const { records, policies, runs } = system.admin;
    await expect(records.replay(run_id, { from: 'nowhere' })).rejects.toMatchObject({ code: 4005 });
    await expect(records.replay(run_id, { from: 'last' })).rejects.toMatchObject({
      code: 3005,
      suggestion: 'Replay from broken.',
    });
    await policies.put('default', {
      ...ALLOW_ALL,
      rules: [...ALLOW_ALL.rules, { id: 'no', effect: 'forbid', match: { tool: 'shell.run' } }],
    });
    const again = await records.replay(run_id, { from: 'broken' });
    await runs.wait(again.run_id, { timeout_s: 20 });
    expect((await stepsOf(again.run_id)).map((step) => `${step.step_id} ${step.status}`)).toEqual([
      ...['first succeeded', 'broken denied', 'last skipped'],
    ]);
    await policies.put('default', ALLOW_ALL);
  });
});

describe('a replay that executes', () => {
  test('runs what changes nothing, holds the rest, and tells where outputs differ', async () => {
    const { run_id } = await system.admin.submitBulk([
      add(1),
      { tool_id: 'cap:current_time:get_current_time' },
      { tool_id: 'shell.run', inputs: { cmd: ['true'] } },
    ]);
    await eventually(async () => expect((await system.admin.runs.get(run_id)).finished_at).not.toBeNull());
    const again = await system.admin.records.replay(run_id, { re_execute: true });
    expect(again).toMatchObject({ mode: 'execution', replay_of: run_id, total_steps: 3 });
    await eventually(async () => {
      const { items } = await system.admin.records.differences(again.run_id).page();
      expect(items.map(({ tool_id, status, outcome }) => `${tool_id} ${status} ${outcome}`)).toEqual([
        'cap:test_math:add succeeded same',
        'cap:current_time:get_current_time succeeded differs',
        'shell.run held not_executed',
      ]);
      expect(items[1]?.differences[0]?.path).toMatch(/^\/\w+/);
    });
  });
});

describe('a report', () => {
  test('says what happened, in each of its forms', async () => {
    const run_id = await endedPlan();
    const report = await system.admin.records.report(run_id);
    expect(report).toMatchObject({
      report_version: '1.0',
      run: { run_id },
      plan: { name: 'sums' },
      verification: { ok: true },
    });
    expect(report.steps.map(({ step_id, status }) => `${step_id} ${status}`)).toEqual([
      'one succeeded',
      'many[0] succeeded',
      'many[1] succeeded',
      'never skipped',
    ]);
    expect(report.summary).toMatchObject({
      completed_steps: 3,
      skipped_steps: 1,
      attempts: 3,
      tools: { 'cap:test_math:add': 3 },
    });
    expect(await system.admin.records.reportText(run_id, 'text')).toMatch(
      /✓ +\+\d+ms +one[\s\S]*↷[\s\S]*Record: verified/,
    );
    const page = await system.admin.records.reportText(run_id, 'html');
    expect(page).toContain('The record verifies');
    expect(page).not.toMatch(/<script|src=|href="[^#]/);
  });
});

describe('the audit', () => {
  test('has a refused key once, and a role that was missing', async () => {
    const stranger = system.clientFor('cap_not-a-key-of-anybody');
    for (let time = 0; time < 3; time++)
      await expect(stranger.runs.list().page()).rejects.toMatchObject({ code: 6001 });
    const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'ann', roles: ['submit'] });
    await expect(system.clientFor(key).audit.list().page()).rejects.toMatchObject({ code: 6002 });
    await eventually(async () => {
      expect((await system.admin.audit.list({ event: 'login.refused' }).page()).items).toMatchObject([
        { actor: 'nobody', detail: { code: 6001 } },
      ]);
      expect((await system.admin.audit.list({ event: 'role.refused' }).page()).items).toMatchObject([
        { actor: 'ann', detail: { path: '/v1/audit' } },
      ]);
    });
  });

  test('is chained after a moment, filtered, exported, and a changed event is named', async () => {
    await system.admin.policies.put('other', ALLOW_ALL);
    await eventually(async () => expect((await system.admin.audit.verify()).unchained).toBe(0));
    expect(await system.admin.audit.verify()).toMatchObject({ ok: true, mismatches: [] });
    const { items } = await system.admin.audit.list({ event: 'policy.*', subject: 'other' }).page();
    expect(items).toMatchObject([
      { event: 'policy.put', actor: 'admin', chain_hash: expect.stringMatching(/^sha256:/) },
    ]);
    const exported = [];
    for await (const entry of system.admin.audit.export({ event: 'policy.put' })) exported.push(entry.subject);
    expect(exported).toContain('other');
    const { db } = system.store;
    await sql`ALTER TABLE audit DISABLE TRIGGER audit_append_only`.execute(db);
    await sql`UPDATE audit SET actor = 'nobody' WHERE seq = ${items[0]?.seq}`.execute(db);
    expect((await system.admin.audit.verify()).mismatches).toMatchObject([{ table: 'audit', row: items[0]?.seq }]);
    await sql`UPDATE audit SET actor = 'admin' WHERE seq = ${items[0]?.seq}`.execute(db);
    await sql`ALTER TABLE audit ENABLE TRIGGER audit_append_only`.execute(db);
  });
});

describe('retention', () => {
  test('takes results first, by tenant and by end; the record verifies over them and says so; then the whole run goes', async () => {
    const MOMENT = 1e-7;
    const { key } = await system.admin.keys.create({ tenant: 'brief', actor: 'bea', roles: ['submit', 'admin'] });
    const bea = system.clientFor(key);
    const other = await system.admin.submit(add(1), { wait_s: 20 });
    const failing = { id: 'fails', tool: 'shell.run', args: { cmd: ['false'] }, needs: [], on_error: 'continue' };
    const { run_id } = await bea.runs.submit({ plan: { ...PLAN, steps: [...PLAN.steps, failing] } });
    await bea.runs.wait(run_id, { timeout_s: 20 });
    const { seal } = await bea.records.verify(run_id);
    await expect(bea.retentions.set('brief', { results_days: MOMENT })).rejects.toMatchObject({ status: 403 });
    await system.admin.retentions.set('brief', { results_days: MOMENT, by_status: { failed: { results_days: null } } });
    const verification = await eventually(async () => {
      const now = await bea.records.verify(run_id);
      return now.removed.length > 0 && now;
    });
    expect(verification).toMatchObject({ ok: true, mismatches: [], seal: { root: seal?.root } });
    const steps = (await bea.runs.steps(run_id).page()).items.filter(({ invocation_id }) => invocation_id !== null);
    const succeeded = steps.filter(({ status }) => status === 'succeeded').map(({ invocation_id }) => invocation_id);
    expect(verification.removed.map(({ row }) => row).sort()).toEqual(succeeded.sort());
    const call = await bea.get(succeeded[0] ?? '');
    expect(call.result).toMatchObject({ success: true, payload: null, removed_at: expect.any(String) });
    expect((await system.admin.get(other.invocation_id)).result?.payload).toEqual({ result: 2 });
    expect(await verifyBundle((await text(await bea.records.bundle(run_id))).split('\n'))).toMatchObject({ ok: true });
    expect(await bea.records.reportText(run_id, 'text')).toContain('results removed by retention: 3');
    // What is hidden as removed is told; what is changed is still named.
    await sql`UPDATE results SET duration_ms = 1 WHERE invocation_id = ${succeeded[0]}`.execute(system.store.db);
    expect((await bea.records.verify(run_id)).mismatches).toMatchObject([{ row: succeeded[0], field: 'duration_ms' }]);

    await system.admin.retentions.set('brief', { records_days: MOMENT });
    await eventually(() => expect(bea.runs.get(run_id)).rejects.toMatchObject({ status: 404 }));
    const { rows } = await sql`SELECT detail FROM audit WHERE event = 'retention.run' AND subject = ${run_id}`.execute(
      system.store.db,
    );
    expect(rows).toMatchObject([{ detail: { root: seal?.root } }]);
    await system.admin.retentions.remove('brief');
    await expect(system.admin.retentions.get('brief')).rejects.toMatchObject({ status: 404 });
  });
});

const CAPSULE = new URL('../../../shared/corpora/capsule/', import.meta.url);

describe.skipIf(!existsSync(CAPSULE))('the plans of Capsule (skipped where the corpus is absent)', () => {
  // The other three fetch from the internet.
  test.each([
    ['simple_read', 'workspace'],
    ['copy_file', 'workspace'],
    ['create_notes', 'workspace'],
    ['read_project_files', 'development'],
    ['git_status', 'git_workflow'],
  ])('%s runs under %s as Capsule wrote both, reports, replays and verifies', async (name, its_policy) => {
    const plan = readFileSync(new URL(`plans/${name}.yaml`, CAPSULE), 'utf8');
    const policy = readFileSync(new URL(`policies/${its_policy}.yaml`, CAPSULE), 'utf8');
    const { run_id } = await system.admin.runs.submit({ plan, policy });
    const run = await system.admin.runs.wait(run_id, { timeout_s: 20 });
    expect(isRunOver(run.status)).toBe(true);
    expect(run.denied_steps).toBe(0);
    const report = await system.admin.records.report(run_id);
    expect(report).toMatchObject({
      run: { status: run.status },
      verification: { ok: true },
      steps: { length: run.total_steps },
    });
    const replay = await system.admin.records.replay(run_id, { plan_hash: run.plan_hash ?? '' });
    expect(await hashes(system, replay.run_id)).toEqual(await hashes(system, run_id));
    expect(await system.admin.records.verify(replay.run_id)).toMatchObject({ ok: true });
  });
});

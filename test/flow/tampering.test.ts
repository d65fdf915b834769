import { RECORD_COLUMNS, UNCOVERED } from '@capstan/integrity';
import { sql } from 'kysely';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { OPEN_INSTALLATION } from '../fixtures/open-installation.js';
import { add, endedBulk } from './ended-bulk.js';
import { endedPlan } from './ended-plan.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
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
    const run_id = await endedPlan(system);
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
    const run_id = await endedBulk(system, 5);
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

    const other = await endedBulk(system, 1);
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
    await sql`UPDATE policies SET document = ${JSON.stringify({ ...ALLOW_ALL, installation: OPEN_INSTALLATION })} WHERE policy_hash = ${policy?.hash}`.execute(
      db,
    );
  });
});

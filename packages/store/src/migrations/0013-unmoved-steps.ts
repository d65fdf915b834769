import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A step has a row once it has moved, so that most are written once. What the others are called stands with the run.
  await sql`
    ALTER TABLE plan_runs
      ADD COLUMN step_ids text[] NOT NULL DEFAULT '{}',
      ADD COLUMN step_names text[] NOT NULL DEFAULT '{}',
      ADD COLUMN step_tools text[] NOT NULL DEFAULT '{}'`.execute(db);
  await sql`
    UPDATE plan_runs p SET step_ids = s.ids, step_names = s.names, step_tools = s.tools
    FROM (
      SELECT run_id, array_agg(step_id ORDER BY step) AS ids, array_agg(name ORDER BY step) AS names,
        array_agg(tool_id ORDER BY step) AS tools
      FROM steps WHERE element = -1 GROUP BY run_id
    ) AS s WHERE s.run_id = p.run_id`.execute(db);
  // Nobody counts needs off in rows any more.
  await sql`ALTER TABLE steps ALTER COLUMN unmet SET DEFAULT 0`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`
    INSERT INTO steps (run_id, step, step_id, name, tool_id, status)
    SELECT p.run_id, u.place - 1, u.step_id, u.name, u.tool_id, 'pending'
    FROM plan_runs p, unnest(p.step_ids, p.step_names, p.step_tools) WITH ORDINALITY AS u (step_id, name, tool_id, place)
    WHERE p.active ON CONFLICT DO NOTHING`.execute(db);
  await sql`ALTER TABLE steps ALTER COLUMN unmet DROP DEFAULT`.execute(db);
  await sql`ALTER TABLE plan_runs DROP COLUMN step_ids, DROP COLUMN step_names, DROP COLUMN step_tools`.execute(db);
}

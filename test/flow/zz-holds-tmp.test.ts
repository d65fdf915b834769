import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'vitest';
import { query } from '../conformance/query.js';
import { ALLOW_ALL, startSystem } from './start-system.js';
const timed = { tool_id: 'shell.run', inputs: { cmd: ['bash', '-c', 'echo $EPOCHREALTIME; sleep 0.01; echo $EPOCHREALTIME'] } };
test('watch', async () => {
  const system = await startSystem({ name: 'redis' }, { workers: 2 });
  await system.admin.policies.put('default', ALLOW_ALL);
  await system.admin.quotas.set('tool:shell.run', { max_concurrent: 5 });
  const t = Date.now();
  await Promise.all(Array.from({ length: 200 }, () => system.admin.submit(timed)));
  console.log('submitted', Date.now() - t);
  for (let i = 0; i < 60; i++) {
    const rows = await query(system.database.url, `SELECT status, count(*)::int AS n, max(attempt) AS a FROM invocations GROUP BY 1 ORDER BY 1`);
    const [d] = await query(system.database.url, `SELECT round(avg(duration_ms)) AS run, round(avg(extract(epoch from a.ended_at-a.started_at)*1000)) AS att, count(*)::int n FROM results r JOIN attempts a USING (invocation_id)`);
    const waited = await query(system.database.url, `SELECT invocation_id, status, now()-started_at AS since, attempt FROM invocations WHERE status IN ('queued','running')`);
    console.log(Date.now() - t, JSON.stringify(rows), JSON.stringify(d), JSON.stringify(waited.map((w: any) => [w.status, w.attempt, w.since])));
    if (rows.length === 1) break;
    await delay(1000);
  }
}, 120_000);

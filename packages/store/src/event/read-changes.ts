import type { HoldStatus, InvocationStatus, RunStatus } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

/**
 * How far somebody has followed a tenant: every transaction before `xid`, and every row up to these numbers. All are low
 * marks: what is beyond them may have been told, what is below them cannot change any more.
 */
export type Mark = { xid: string; invocation: string; run: string; audit: string };

/** What happened to one thing; `place` is where, in the numbers of its own kind. */
export type Change =
  | {
      kind: 'ended';
      id: string;
      status: InvocationStatus;
      at: string;
      hold_id: string | null;
      hold_status: HoldStatus | null;
    }
  | { kind: 'created'; id: string; status: InvocationStatus; at: string; place: string }
  | { kind: 'run_ended' | 'run_created'; id: string; status: RunStatus; at: string; place: string | null }
  | { kind: 'act'; id: string; event: string; at: string; place: string };

export type Changes = {
  changes: Change[];
  /** Whether there was more of one kind than is read at once. */
  many: { ended: boolean; created: boolean; act: boolean };
  /** The oldest transaction that is open; all before it have ended. */
  oldest: string;
  /** The next transaction that will begin. */
  next: string;
  /** The latest rows there are. */
  latest: Omit<Mark, 'xid'>;
};

/** What people did that no other row tells. */
const TOLD = `event ~ '^(hold|queue|policy|extension|tool|atip|mcp_server)[.]'
          OR event IN ('run.pause', 'run.resume', 'invocation.redrive', 'invocation.resolve', 'invocation.rescue')`;

/** What concerns every tenant: the queues and tools of the installation, and the policy of who has none of their own. */
const SHARED = `event ~ '^(queue|extension|tool|atip|mcp_server)[.]' OR (event ~ '^policy[.]' AND subject = 'default')`;

const READ: Statement = {
  name: 'read-changes',
  text: `
    SELECT json_build_object(
      'oldest', pg_snapshot_xmin(pg_current_snapshot())::text, 'next', pg_snapshot_xmax(pg_current_snapshot())::text,
      'latest', json_build_object('invocation', (SELECT coalesce(max(seq), 0)::text FROM invocations WHERE tenant = $1),
        'run', (SELECT coalesce(max(seq), 0)::text FROM runs WHERE tenant = $1),
        'audit', (SELECT coalesce(max(seq), 0)::text FROM audit)),
      'ended', (SELECT coalesce(json_agg(e), '[]') FROM (
        SELECT 'ended' AS kind, r.invocation_id AS id, r.status, r.finished_at AS at, h.hold_id, h.status AS hold_status, i.tenant
        FROM (SELECT * FROM results WHERE xid >= $2::text::xid8 ORDER BY xid LIMIT $6) r
          JOIN invocations i ON i.invocation_id = r.invocation_id LEFT JOIN holds h ON h.invocation_id = r.invocation_id) e),
      'created', (SELECT coalesce(json_agg(e), '[]') FROM (
        SELECT 'created' AS kind, invocation_id AS id, coalesce(admitted, 'queued') AS status, created_at AS at, seq::text AS place
        FROM invocations WHERE tenant = $1 AND seq > $3 ORDER BY seq LIMIT $6) e),
      'runs', (SELECT coalesce(json_agg(e), '[]') FROM (
        (SELECT 'run_created' AS kind, run_id AS id, coalesce(status, 'running') AS status, created_at AS at, seq::text AS place
        FROM runs WHERE tenant = $1 AND seq > $4 ORDER BY seq LIMIT $6)
        UNION ALL
        (SELECT 'run_ended', run_id, coalesce(status, CASE WHEN canceled_steps > 0 THEN 'canceled'
          WHEN failed_steps + denied_steps > 0 THEN 'failed' ELSE 'completed' END), coalesce(finished_at, now()), NULL
        FROM runs WHERE end_xid >= $2::text::xid8 AND tenant = $1 ORDER BY end_xid LIMIT $6)) e),
      'acts', (SELECT coalesce(json_agg(e), '[]') FROM (
        SELECT 'act' AS kind, subject AS id, event, at, seq::text AS place FROM audit
        WHERE seq > $5 AND (${TOLD}) AND (tenant = $1 OR ${SHARED}) ORDER BY seq LIMIT $6) e)
    ) AS found`,
};

type Found = Omit<Changes, 'changes' | 'many'> & {
  ended: (Extract<Change, { kind: 'ended' }> & { tenant: string })[];
  created: Change[];
  runs: Change[];
  acts: Change[];
};

/** What happened to a tenant since a mark, in one statement; `limit` of each kind. */
export async function readChanges(
  store: Pick<Store, 'query'>,
  tenant: string,
  since: Mark,
  limit: number,
): Promise<Changes> {
  const [row] = await store.query<{ found: Found }>(READ, [
    tenant,
    since.xid,
    since.invocation,
    since.run,
    since.audit,
    limit,
  ]);
  if (!row) throw new Error('read-changes answered no row');
  const { ended, created, runs, acts, ...marks } = row.found;
  const own = ended.flatMap(({ tenant: of, ...change }) => (of === tenant ? change : []));
  return {
    ...marks,
    changes: [...created, ...own, ...runs, ...acts]
      .map((change) => ({ ...change, at: new Date(change.at).toISOString() }))
      .sort((a, b) => a.at.localeCompare(b.at)),
    many: { ended: ended.length === limit, created: created.length === limit, act: acts.length === limit },
  };
}

import type { HoldStatus, InvocationStatus, RunStatus } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

/**
 * How far a reader has followed a tenant: every transaction before `xid`, and every row up to these numbers. These are low-water marks:
 * changes above them may already have been reported, and nothing below them can change any more.
 */
export type Mark = { xid: string; invocation: string; run: string; audit: string };

/** One change; `place` is its number among the changes of its kind. */
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
  /** The kinds of which there were more changes than the limit. */
  many: { ended: boolean; created: boolean; act: boolean };
  /** The oldest open transaction; all before it have ended. */
  oldest: string;
  /** The id of the next transaction. */
  next: string;
  /** The newest row of each kind. */
  latest: Omit<Mark, 'xid'>;
};

/** Audit events about changes that no other row shows. */
const TOLD = `event ~ '^(hold|queue|policy|extension|tool|atip|mcp_server)[.]'
          OR event IN ('run.pause', 'run.resume', 'invocation.redrive', 'invocation.resolve', 'invocation.rescue')`;

/** Events that concern every tenant: queues and tools of the installation, and the policy of tenants without their own. */
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

/** Reads the changes of a tenant since a mark in one statement, up to `limit` of each kind. */
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

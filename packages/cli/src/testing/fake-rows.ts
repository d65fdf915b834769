import type { ServerResponse } from 'node:http';

/** An invocation of the fake gateway, with the events of its stream. */
export type Row = {
  invocation_id: string;
  run_id: string;
  tool_id: string;
  status: string;
  result: Record<string, unknown> | null;
  events: string[];
  followers: Set<ServerResponse>;
  [field: string]: unknown;
};

export const HASH = `sha256:${'0'.repeat(64)}`;
export const CREATED = '2026-01-01T12:00:00.000Z';

/** Outcomes are named by the tool id. */
const outcomeOf = (tool_id: string, inputs: Record<string, number>): [status: string, result: object] => {
  const ok = (payload: unknown) =>
    ['succeeded', { success: true, payload, error: null, code: null }] as [string, object];
  switch (tool_id) {
    case 'cap:test_math:add':
      return ok({ result: (inputs.a ?? 0) + (inputs.b ?? 0) });
    case 'fake:exec':
      return ok({ stdout: 'to stdout', stderr: 'to stderr\n', exit_code: 0 });
    case 'fake:text':
      return ok('plain text');
    case 'fake:fail':
      return ['failed', { success: false, payload: null, error: 'the tool said no', code: 2003 }];
    case 'fake:timeout':
      return ['timed_out', { success: false, payload: null, error: 'timed out after 30 s', code: 2004 }];
    case 'fake:lost':
      return ['ambiguous', { success: false, payload: null, error: null, code: null }];
    default:
      return ok(inputs);
  }
};

/** The invocations of the fake gateway and what becomes of them. */
export const createFakeRows = () => {
  const rows = new Map<string, Row>();
  let count = 0;

  const publicRow = ({ events: _events, followers: _followers, ...row }: Row) => row;
  const publish = (row: Row, event: string, data: unknown): void => {
    const message = `id: ${row.events.length + 1}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    row.events.push(message);
    for (const follower of row.followers) follower.write(message);
  };
  const move = (row: Row, status: string): void => {
    row.status = status;
    publish(row, 'status', { status, attempt: 1, at: CREATED });
  };
  const finish = (row: Row): void => {
    const [status, result] = outcomeOf(row.tool_id, row.inputs as Record<string, number>);
    row.result = {
      declared_side_effects: [],
      artifacts: [],
      facts: null,
      duration_ms: 12,
      exit_code: null,
      truncated: false,
      input_hash: HASH,
      output_hash: HASH,
      chain_hash: null,
      ...result,
    };
    row.finished_at = CREATED;
    row.attempt = 1;
    move(row, status);
    publish(row, 'result', row.result);
    for (const follower of row.followers) follower.end();
  };
  const add = (submission: Record<string, unknown>, run_id?: string): Row => {
    count += 1;
    const invocation_id = `inv_${String(count).padStart(8, '0')}`;
    const row: Row = {
      invocation_id,
      run_id: run_id ?? invocation_id.replace('inv_', 'run_'),
      tool_id: String(submission.tool_id),
      runner: 'builtin',
      status: 'queued',
      actor: 'admin',
      inputs: submission.inputs ?? {},
      input_hash: HASH,
      descriptor_hash: HASH,
      policy_hash: HASH,
      decision: { effect: 'allow', allowed: true, reason: 'harmless', rule_matched: 'built-ins', code: null },
      hold_id: null,
      mode: 'execution',
      session_id: null,
      idempotency_key: null,
      priority: 0,
      timeout_ms: 30_000,
      max_attempts: 3,
      attempt: 0,
      labels: submission.labels ?? {},
      run_at: null,
      expires_at: null,
      created_at: CREATED,
      finished_at: null,
      result: null,
      hold: null,
      waits_for: [],
      waiting: null,
      attempts: [],
      events: [],
      followers: new Set(),
    };
    rows.set(invocation_id, row);
    publish(row, 'status', { status: 'queued', attempt: 0, at: CREATED });
    if (row.tool_id === 'fake:unserved')
      row.waiting = { cause: 'no_worker', detail: 'no worker serves exec', suggestion: 'Start one.' };
    if (row.tool_id === 'fake:hold') {
      row.decision = { effect: 'hold', allowed: false, reason: 'a person must look', rule_matched: 'look', code: null };
      row.hold_id = invocation_id.replace('inv_', 'hld_');
      move(row, 'held');
    } else if (row.tool_id === 'fake:slow') {
      move(row, 'running');
      setTimeout(
        () => publish(row, 'log', { stream: 'stdout', text: 'half-way\n', seq: 1 }),
        Number((row.inputs as { ms?: number }).ms) / 2,
      ).unref();
      setTimeout(() => finish(row), Number((row.inputs as { ms?: number }).ms)).unref();
    } else if (row.tool_id !== 'fake:never' && row.tool_id !== 'fake:unserved') finish(row);
    return row;
  };
  const list = (query: URLSearchParams) => {
    const limit = Number(query.get('limit') ?? 50);
    const from = Number(query.get('cursor') ?? 0);
    const status = query.getAll('status');
    const all = [...rows.values()]
      .reverse()
      .filter((row) => status.length === 0 || status.includes(row.status))
      .filter((row) => query.get('run_id') === null || row.run_id === query.get('run_id'));
    const items = all.slice(from, from + limit).map(publicRow);
    return { items, next_cursor: from + limit < all.length ? String(from + limit) : null };
  };
  const runOf = (run_id: string) => {
    const all = [...rows.values()].filter((row) => row.run_id === run_id);
    const completed_steps = all.filter(({ status }) => status === 'succeeded').length;
    const failed_steps = all.filter(({ status }) => status === 'failed' || status === 'timed_out').length;
    const status = completed_steps + failed_steps === all.length ? 'completed' : 'running';
    return {
      run_id,
      kind: 'bulk',
      status,
      actor: 'admin',
      total_steps: all.length,
      completed_steps,
      denied_steps: 0,
      failed_steps,
      created_at: CREATED,
      finished_at: null,
    };
  };

  return { rows, publicRow, move, finish, add, list, runOf };
};

/**
 * What the audit says of executions that end together (`moved`): one event for each actor, as of submissions, with how each
 * ended, how long it took and with which exit code. Short, because it is written for every call: the rest is with its result,
 * and `of` has more only where the risk of the call asks for it.
 */
export const AUDIT_ENDS = `
  INSERT INTO audit (tenant, actor, event, subject, detail)
  SELECT tenant, actor, 'invocation.end', coalesce(run_id, min(invocation_id)), json_build_object('calls',
    json_object_agg(invocation_id, json_strip_nulls(json_build_object(
      'status', status, 'duration_ms', duration_ms, 'exit_code', exit_code, 'of', audit))))
  FROM moved WHERE status IN ('succeeded', 'failed', 'timed_out', 'canceled') GROUP BY tenant, actor, run_id`;

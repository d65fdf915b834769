/**
 * The audit events of executions that end together (`moved`): one for each actor, as for submissions, with the status, duration
 * and exit code of each call. Short, because every call is in one: the rest is stored with its result, and `of` has more detail
 * only if the risk of the call requires it.
 */
export const AUDIT_ENDS = `
  INSERT INTO audit (tenant, actor, event, subject, detail)
  SELECT tenant, actor, 'invocation.end', coalesce(run_id, min(invocation_id)), json_build_object('calls',
    json_object_agg(invocation_id, json_strip_nulls(json_build_object(
      'status', status, 'duration_ms', duration_ms, 'exit_code', exit_code, 'of', audit))))
  FROM moved WHERE status IN ('succeeded', 'failed', 'timed_out', 'canceled') GROUP BY tenant, actor, run_id`;

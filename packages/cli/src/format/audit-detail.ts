import { type AuditEntry, type AuditedExecution, isObject, type Json, type JsonObject } from '@capstan/contracts';
import { countOf, formatCount } from './count.js';
import { formatDuration } from './duration.js';

/** What an event was about, in words. Hashes are left out: --json has them. */
export const auditDetail = ({ event, detail, executions }: AuditEntry): string => {
  if (executions !== undefined && executions.length > 0) return describeExecutions(executions);
  if (event === 'invocation.submit' && isObject(detail.calls)) return describeCalls(detail.calls);
  const { tool_id, reason, ...rest } = detail;
  return [tool_id, reason, ...Object.entries(rest).map(([name, value]) => describe(name, value))]
    .flatMap((part) => (typeof part === 'string' && part !== '' ? [part] : []))
    .join(', ');
};

const describeExecutions = (executions: readonly AuditedExecution[]): string => {
  const [only] = executions;
  if (only === undefined || executions.length > 1) {
    const counts = new Map<string, number>();
    for (const { status } of executions) counts.set(status, (counts.get(status) ?? 0) + 1);
    return [...counts].map(([status, count]) => `${formatCount(count)} ${status}`).join(', ');
  }
  const { tool_id, status, duration_ms, exit_code, error } = only;
  const took = duration_ms === null ? '' : ` in ${formatDuration(duration_ms)}`;
  const exit = exit_code === null || exit_code === 0 ? '' : `, exit code ${exit_code}`;
  return `${tool_id} ${status}${took}${exit}${error === null ? '' : `: ${error}`}`;
};

/** `{tool: {invocation: hash}}`. */
const describeCalls = (calls: JsonObject): string =>
  Object.entries(calls)
    .map(([tool_id, each]) => {
      const count = isObject(each) ? Object.keys(each).length : 1;
      return count === 1 ? tool_id : `${countOf(count, 'call')} of ${tool_id}`;
    })
    .join(', ');

const describe = (name: string, value: Json | undefined): string => {
  if (value === null || value === undefined || name.includes('hash')) return '';
  const words = name.replaceAll('_', ' ');
  if (Array.isArray(value)) return value.length === 0 ? '' : `${words} ${value.map(textOf).join(' ')}`;
  return `${words} ${textOf(value)}`;
};

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

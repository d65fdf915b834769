import { describeExecution } from '@capstan/catalog';
import type { AuditEntry } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { readExecutions } from '@capstan/store/audit';
import type { GatewayContext } from '../gateway-context.js';

/** Per page; one event may be about hundreds of calls. */
const MAX_EXECUTIONS = 2000;

/**
 * Adds what was executed to events about the ends of calls. It is read from the records of the calls, which are hashed and sealed
 * themselves. Writing it with each event would make every call more expensive.
 */
export async function withExecutions(
  { store, catalog }: Pick<GatewayContext, 'store' | 'catalog'>,
  tenant: string,
  entries: AuditEntry[],
): Promise<AuditEntry[]> {
  const ids = entries.flatMap(idsOf).slice(0, MAX_EXECUTIONS);
  const found = new Map(
    (await readExecutions(store.db, tenant, ids)).map(({ inputs, ...execution }) => {
      const descriptor = catalog.get(execution.tool_id)?.descriptor ?? { tool_id: execution.tool_id, binding: NATIVE };
      const { action, command } = describeExecution(descriptor, inputs);
      return [execution.invocation_id, { ...execution, action, command: command && redactor.text(command) }];
    }),
  );
  return entries.map((entry) => {
    const executions = idsOf(entry).flatMap((id) => found.get(id) ?? []);
    return executions.length === 0 ? entry : { ...entry, executions };
  });
}

/** The entries in groups that `withExecutions` completes whole, for an export, in which nothing may be missing. */
export function* inGroups(entries: AuditEntry[]): Generator<AuditEntry[]> {
  let group: AuditEntry[] = [];
  let calls = 0;
  for (const entry of entries) {
    const more = idsOf(entry).length;
    if (group.length > 0 && calls + more > MAX_EXECUTIONS) {
      yield group;
      [group, calls] = [[], 0];
    }
    group.push(entry);
    calls += more;
  }
  if (group.length > 0) yield group;
}

const idsOf = ({ event, detail: { calls } }: AuditEntry): string[] =>
  event === 'invocation.end' && typeof calls === 'object' && calls !== null ? Object.keys(calls) : [];

const redactor = createRedactor({ values: [] });
const NATIVE = { kind: 'native' } as const;

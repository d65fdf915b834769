import { describeExecution } from '@capstan/catalog';
import type { AuditEntry } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { readExecutions } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';

/** Of one page; an event may be about hundreds of calls. */
const MAX_EXECUTIONS = 2000;

/**
 * Says of events about the ends of calls what was executed. It is read from the records of the calls rather than written with
 * each event, which would cost every harmless call; those records are hashed and sealed by themselves.
 */
export async function withExecutions(
  { store, catalog }: Pick<GatewayContext, 'store' | 'catalog'>,
  tenant: string,
  entries: AuditEntry[],
): Promise<AuditEntry[]> {
  const idsOf = ({ event, detail: { calls } }: AuditEntry): string[] =>
    event === 'invocation.end' && typeof calls === 'object' && calls !== null ? Object.keys(calls) : [];
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

const redactor = createRedactor({ values: [] });
const NATIVE = { kind: 'native' } as const;

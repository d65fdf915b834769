import type { LiveRules } from '@capstan/backbone';
import { DAY_MS, type Descriptor } from '@capstan/contracts';
import type { AdmittedStatus } from '@capstan/store/invocation';

type First = { status: AdmittedStatus; expires_in_ms: number | null };
type Marked = First & { quota_scopes?: string[]; cost_units?: number };

/** How long a call waits for a quota before it expires. */
const WAIT_MS = 7 * DAY_MS;

/**
 * Applies quotas to the initial status of a call. If a quota may defer it, the call waits until the coordinator queues it. A call
 * without quotas keeps its status and gets no marks.
 */
export function underQuotas(
  rules: LiveRules,
  call: { tenant: string; actor: string },
  tool: Descriptor,
  first: First,
  /** True if no client waits for the call. It then waits even if a quota would deny it. */
  unattended = false,
): Marked {
  const quotas = first.status === 'denied' ? undefined : rules.quotasOf(call, tool);
  if (!quotas) return first;
  const waits = unattended || quotas.some(({ on_exceed }) => on_exceed === 'defer');
  return {
    status: waits && first.status === 'queued' ? 'deferred' : first.status,
    expires_in_ms: first.expires_in_ms ?? (waits ? WAIT_MS : null),
    quota_scopes: quotas.map(({ scope }) => scope),
    cost_units: tool.effects.cost_units ?? 0,
  };
}

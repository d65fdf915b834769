import type { LiveRules } from '@capstan/backbone';
import type { Descriptor } from '@capstan/contracts';
import type { AdmittedStatus } from '@capstan/store';

type First = { status: AdmittedStatus; expires_in_ms: number | null };
type Marked = First & { quota_scopes?: string[]; cost_units?: number };

/** Nothing waits for ever. */
const WAIT_MS = 7 * 86_400_000;

/**
 * What the quotas make of a call's first status: where one may defer it, it waits, and the coordinator lets it in when
 * there is room. A call that no quota concerns keeps its status and is marked with nothing.
 */
export function underQuotas(
  rules: LiveRules,
  call: { tenant: string; actor: string },
  tool: Descriptor,
  first: First,
  /** Whether nobody is there to be told no: then what a quota would deny waits too. */
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

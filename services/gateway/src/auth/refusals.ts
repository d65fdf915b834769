import type { Backbone } from '@capstan/backbone';
import { DEFAULT_TENANT, type Failure, type Principal } from '@capstan/contracts';
import { appendAudit } from '@capstan/store';

/** Who was refused, from where, and what they wanted. */
export type Refusal = { failure: Failure; principal: Principal | null; address: string; path: string };
export type Refusals = { note(refusal: Refusal): void };

const WINDOW_MS = 60_000;
const MAX_SOURCES = 1000;

/**
 * Puts refused logins and missing roles on the audit: the first from each address at once, those that follow within a
 * minute as a count with the next one. Whoever tries keys by the thousand fills neither the audit nor the database. A key
 * that is not known has no tenant; it is told to those who run the installation.
 */
export function createRefusals(
  { store, log }: Pick<Backbone, 'store' | 'log'>,
  now: () => number = Date.now,
): Refusals {
  const sources = new Map<string, { until: number; more: number }>();
  return {
    note: ({ failure, principal, address, path }) => {
      const source = `${failure.kind} ${principal ? principal.key_id || principal.actor : address}`;
      const known = sources.get(source);
      if (known && known.until > now()) {
        known.more += 1;
        return;
      }
      if (sources.size >= MAX_SOURCES) sources.clear();
      sources.set(source, { until: now() + WINDOW_MS, more: 0 });
      const { tenant = DEFAULT_TENANT, actor = 'nobody', key_id = null } = principal ?? {};
      const detail = { reason: failure.message, code: failure.code, path, key_id, more_before: known?.more ?? 0 };
      const event = {
        tenant,
        actor,
        event: failure.kind === 'ROLE_MISSING' ? 'role.refused' : 'login.refused',
        subject: address,
        detail,
      };
      appendAudit(store.db, [event]).catch((error: unknown) =>
        log.warn({ err: error }, 'a refusal could not be put on the audit'),
      );
    },
  };
}

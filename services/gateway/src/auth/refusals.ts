import type { Backbone } from '@capstan/backbone';
import { DEFAULT_TENANT, type Failure, type Principal } from '@capstan/contracts';
import { appendAudit } from '@capstan/store/audit';

export type Refusal = { failure: Failure; principal: Principal | null; address: string; path: string };
export type Refusals = { note(refusal: Refusal): void };

const WINDOW_MS = 60_000;
const MAX_SOURCES = 1000;

/**
 * Writes refused logins and missing roles to the audit: the first from each source at once, those within the next minute as a
 * count in the entry after that. So somebody who tries thousands of keys does not fill the database. An unknown key belongs to no
 * tenant; it is audited in the tenant of the installation.
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
        log.warn({ err: error }, 'a refused request could not be written to the audit log'),
      );
    },
  };
}

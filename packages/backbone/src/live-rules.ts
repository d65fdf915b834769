import { type Descriptor, matchesWildcard, type Quota, toolOfAlias } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { type ApprovedSpec, approvedSpecs } from '@capstan/store/policy';
import { listQuotas } from '@capstan/store/quota';
import { tenantsWatching } from '@capstan/store/webhook';
import { keepFresh } from './keep-fresh.js';

/**
 * Quotas, approved specifications and tenants with webhooks, cached in every process: a call without any of them costs one map
 * lookup.
 */
export type LiveRules = {
  /** The quotas that apply to a call, ordered by scope; undefined for none. */
  quotasOf(call: { tenant: string; actor: string }, tool: Descriptor): readonly Quota[] | undefined;
  quotas(): readonly Quota[];
  /** The hashes of specifications that a grant of this tenant approves. */
  approvedSpecs(tenant: string): readonly string[];
  /** Whether this tenant has endpoints for the ends of invocations. */
  watches(tenant: string): true | undefined;
  anyWatched(): boolean;
  refresh(): Promise<void>;
  close(): void;
};

/** Covers signals lost while listening; after a reconnect it refreshes anyway. */
const REFRESH_MS = 60_000;
const MAX_KNOWN = 10_000;
const SIGNALS = ['quotas', 'webhooks', 'grants'];

export async function openRules(store: Store, relay: Relay): Promise<LiveRules> {
  let quotas: Quota[] = [];
  let watching = new Set<string>();
  let specs = new Map<string, string[]>();
  let known = new Map<string, readonly Quota[] | undefined>();
  let started = 0;
  let applied = 0;
  const refresh = async () => {
    started += 1;
    const mine = started;
    const [listed, tenants, approved] = await Promise.all([
      listQuotas(store.db),
      tenantsWatching(store.db),
      approvedSpecs(store.db),
    ]);
    // A slow refresh must not overwrite the result of a later one.
    if (mine < applied) return;
    applied = mine;
    quotas = listed;
    watching = new Set(tenants);
    specs = byTenant(approved);
    known = new Map();
  };
  const close = await keepFresh(relay, { signals: SIGNALS, every_ms: REFRESH_MS }, refresh);
  return {
    quotasOf: (call, tool) => {
      if (quotas.length === 0) return undefined;
      const key = `${call.tenant}\n${call.actor}\n${tool.tool_id}`;
      if (known.has(key)) return known.get(key);
      const matching = quotas.filter(({ scope }) => concerns(scope, call, tool));
      const found = matching.length > 0 ? matching : undefined;
      if (known.size >= MAX_KNOWN) known = new Map();
      known.set(key, found);
      return found;
    },
    quotas: () => quotas,
    approvedSpecs: (tenant) => specs.get(tenant) ?? [],
    watches: (tenant) => watching.has(tenant) || undefined,
    anyWatched: () => watching.size > 0,
    refresh,
    close,
  };
}

function byTenant(approved: readonly ApprovedSpec[]): Map<string, string[]> {
  const specs = new Map<string, string[]>();
  for (const { tenant, spec_hash } of approved) specs.set(tenant, [...(specs.get(tenant) ?? []), spec_hash]);
  return specs;
}

function concerns(scope: string, { tenant, actor }: { tenant: string; actor: string }, tool: Descriptor): boolean {
  const [kind] = scope.split(':', 1);
  const name = scope.slice((kind ?? '').length + 1);
  switch (kind) {
    case 'tenant':
      return name === tenant;
    case 'actor':
      return name === actor || name === `${tenant}/${actor}`;
    case 'tool':
      return matchesWildcard(toolOfAlias(name), tool.tool_id);
    case 'source':
      return name === tool.source;
    case 'runner':
      return name === tool.runner;
    default:
      return false;
  }
}

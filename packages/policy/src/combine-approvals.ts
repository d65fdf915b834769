import type { Approvals } from '@capstan/contracts';

/** The default approvals: one vote, and never from the person who submitted the call. */
const ANYBODY: Approvals = { required: 1, allow_self: false };

/** Combines all that hold a call: the largest quorum, all the roles, only the actors that all of them accept, and the shortest expiry. */
export function combineApprovals(all: readonly (Approvals | undefined)[]): Approvals {
  return all.reduce<Approvals>((combined, approvals) => combine(combined, { ...ANYBODY, ...approvals }), {
    required: 1,
    allow_self: true,
  });
}

function combine(one: Approvals, other: Approvals): Approvals {
  const roles = [...new Set([...(one.roles ?? []), ...(other.roles ?? [])])];
  const actors = both(one.actors, other.actors);
  const expires_in_ms = Math.min(one.expires_in_ms ?? Infinity, other.expires_in_ms ?? Infinity);
  return {
    required: Math.max(one.required ?? 1, other.required ?? 1),
    allow_self: one.allow_self === true && other.allow_self === true,
    ...(roles.length > 0 ? { roles } : {}),
    ...(actors ? { actors } : {}),
    ...(Number.isFinite(expires_in_ms) ? { expires_in_ms } : {}),
    ...(one.revote_on_edit || other.revote_on_edit ? { revote_on_edit: true } : {}),
  };
}

const both = (one: string[] | undefined, other: string[] | undefined): string[] | undefined =>
  one && other ? one.filter((actor) => other.includes(actor)) : (one ?? other);

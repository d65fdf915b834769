import { type Invocation, isTerminal, type Principal } from '@capstan/contracts';
import { getInvocation, readLogs } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { cancel } from '../invocation/act-on.js';

/** Whoever follows a call: gone when `signal` aborts, and perhaps interested in what it prints. */
export type Follower = { signal: AbortSignal; onLine?: ((text: string) => Promise<void>) | undefined };

const LOOK_MS = 2000;
/** How long an answer is held back. Clients give up after a minute unless they hear of progress. */
const QUIET_MS = 50_000;
const MAX_MS = 900_000;

/** The call when it has ended, or as it is when there is nothing to wait for. A follower who leaves cancels it. */
export async function followCall(
  gateway: GatewayContext,
  principal: Principal,
  invocation: Invocation,
  { signal, onLine }: Follower,
): Promise<Invocation> {
  const { invocation_id } = invocation;
  const ends = performance.now() + (onLine ? MAX_MS : QUIET_MS);
  const over = AbortSignal.any([signal, gateway.stopping]);
  const lines = onLine ? printer(gateway, invocation_id, onLine) : async () => {};
  let current = invocation;
  while (waits(current) && !over.aborted && performance.now() < ends) {
    // Listening starts before looking, so a change in between is not missed.
    const looked = new AbortController();
    const change = gateway.changes.next(invocation_id, LOOK_MS, AbortSignal.any([over, looked.signal]));
    current = (await getInvocation(gateway.store.db, principal.tenant, invocation_id)) ?? current;
    await lines();
    if (!waits(current)) looked.abort();
    await change;
  }
  if (signal.aborted && !isTerminal(current.status)) await cancel(gateway, principal, { invocation_id });
  return current;
}

/** A hold can take days: that is not waited for. */
const waits = ({ status }: Invocation): boolean => !isTerminal(status) && status !== 'held';

function printer({ store }: GatewayContext, invocation_id: string, onLine: (text: string) => Promise<void>) {
  let after = { attempt: 0, seq: 0 };
  return async () => {
    for (const { attempt, seq, text } of await readLogs(store.db, invocation_id, after, 100)) {
      after = { attempt, seq };
      await onLine(text.trimEnd());
    }
  };
}

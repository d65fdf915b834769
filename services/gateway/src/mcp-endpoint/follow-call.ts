import { holdIdOf, type Invocation, isTerminal, type Principal } from '@capstan/contracts';
import { getHold, type HeldCall } from '@capstan/store/hold';
import { getInvocation } from '@capstan/store/invocation';
import { readLogs } from '@capstan/store/log';
import type { GatewayContext } from '../gateway-context.js';

export type Followed = {
  invocation: Invocation;
  /** The hold that it waits for; null if it does not wait for a person. */
  hold: HeldCall | null;
};

export type Follower = {
  principal: Principal;
  /** Aborts when the follower is gone. */
  signal: AbortSignal;
  for_ms: number;
  onLine?: ((text: string) => Promise<void>) | undefined;
  /** True if the follower wants to stop before the call ends. */
  stopsAt(followed: Followed): boolean;
};

const LOOK_MS = 2000;
const LINES = 500;

/** Follows a call until it ends, `stopsAt` is true, or `for_ms` have passed. */
export async function followCall(
  gateway: GatewayContext,
  invocation: Invocation,
  { principal, signal, for_ms, onLine, stopsAt }: Follower,
): Promise<Followed> {
  const { invocation_id } = invocation;
  const ends = performance.now() + for_ms;
  const over = AbortSignal.any([signal, gateway.stopping]);
  const lines = onLine ? printer(gateway, invocation_id, onLine) : async () => {};
  for (;;) {
    // Listening starts before looking, so a change in between is not missed.
    const looked = new AbortController();
    const left = Math.max(0, Math.min(LOOK_MS, ends - performance.now()));
    const change = gateway.changes.next(invocation_id, left, AbortSignal.any([over, looked.signal]));
    const followed = await look(gateway, principal, invocation);
    await lines();
    if (isTerminal(followed.invocation.status) || stopsAt(followed) || over.aborted || performance.now() >= ends) {
      looked.abort();
      return followed;
    }
    await change;
  }
}

export async function look(gateway: GatewayContext, principal: Principal, known: Invocation): Promise<Followed> {
  const { db } = gateway.store;
  const { tenant } = principal;
  const invocation = (await getInvocation(db, tenant, known.invocation_id)) ?? known;
  // An MCP server of the older protocol asks its questions while its tool runs.
  const mayAsk = invocation.status === 'held' || (invocation.status === 'running' && invocation.runner === 'mcp');
  const hold = mayAsk ? await getHold(db, tenant, holdIdOf(invocation.invocation_id)) : undefined;
  return { invocation, hold: hold?.status === 'pending' ? hold : null };
}

/** Prints new log lines. They are written before the end of a call, so the last read gets all of them. */
function printer({ store }: GatewayContext, invocation_id: string, onLine: (text: string) => Promise<void>) {
  let after = { attempt: 0, seq: 0 };
  return async () => {
    for (;;) {
      const lines = await readLogs(store.db, invocation_id, after, LINES);
      for (const { attempt, seq, text } of lines) {
        after = { attempt, seq };
        for (const line of text.split('\n')) if (line !== '') await onLine(line);
      }
      if (lines.length < LINES) return;
    }
  };
}

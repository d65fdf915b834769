import {
  type Decide,
  type DecideAnswer,
  Failure,
  MAX_DECIDED_AT_ONCE,
  type Principal,
  toProblem,
} from '@capstan/contracts';
import { storageFailure } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { reject, release } from './decide-hold.js';
import { holdsMatching } from './list-holds.js';

type Decided = DecideAnswer['items'][number];

/** One after the other is slow, and all at once would take every database connection. */
const AT_A_TIME = 4;

/** Makes the same decision on many holds, by the same rules as on one. Refusals are listed and do not affect the others. */
export async function decideMany(
  gateway: GatewayContext,
  principal: Principal,
  { hold_ids, filter = {}, decision, comment, input_hashes = {} }: Decide,
): Promise<DecideAnswer> {
  const picked = hold_ids ? { ids: [...new Set(hold_ids)], more: false } : await pick(gateway, principal, filter);
  const items: Decided[] = [];
  const decide = async (hold_id: string): Promise<Decided> => {
    try {
      const hold =
        decision === 'release'
          ? await release(gateway, principal, hold_id, { comment, input_hash: input_hashes[hold_id] })
          : await reject(gateway, principal, hold_id, comment ?? '');
      return { hold_id, ok: true, status: hold.status };
    } catch (error) {
      const failure = error instanceof Failure ? error : storageFailure(error);
      return { hold_id, ok: false, status: null, problem: toProblem(failure) };
    }
  };
  for (let at = 0; at < picked.ids.length; at += AT_A_TIME)
    items.push(...(await Promise.all(picked.ids.slice(at, at + AT_A_TIME).map(decide))));
  const decided = items.filter(({ ok }) => ok).length;
  return { decided, refused: items.length - decided, items, more: picked.more };
}

async function pick(gateway: GatewayContext, principal: Principal, filter: NonNullable<Decide['filter']>) {
  const wanted = { limit: MAX_DECIDED_AT_ONCE, sort: 'expires_at' } as const;
  const page = await holdsMatching(gateway, principal, { ...filter, status: 'pending' }, wanted);
  return { ids: page.items.map(({ hold_id }) => hold_id), more: page.next_cursor !== null };
}

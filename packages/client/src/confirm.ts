import type { Hold, Invocation, JsonObject } from '@capstan/contracts';
import { Held } from './errors.js';
import type { Holds } from './hold.js';

/** The program's decision about a held call. `undefined` leaves it to others. */
export type Confirmation =
  | boolean
  | { approve: true; comment?: string | undefined; inputs?: JsonObject | undefined }
  | { approve: false; comment: string }
  | undefined;

/**
 * Called for a held call, with what it would do, why it is held and who may decide. An approval is a vote by the client's own key and
 * counts if the policy lets that key decide. A refusal ends the call.
 */
export type Confirm = (hold: Hold) => Confirmation | Promise<Confirmation>;

const REFUSED = 'Refused by the program that asked for it';

/** Lets the program decide a held call. Returns whether it did. */
export const confirmHold = async (
  holds: Pick<Holds, 'release' | 'reject' | 'withdraw'>,
  hold: Hold,
  invocation: Invocation,
  confirm: Confirm,
): Promise<boolean> => {
  const answer = await confirm(hold);
  if (answer === undefined) return false;
  const { approve, comment, ...more } = typeof answer === 'boolean' ? { approve: answer, comment: undefined } : answer;
  const { hold_id, input_hash, can_decide } = hold;
  if (!approve) {
    // The submitter may withdraw a call, even if others decide it.
    if (can_decide.ok) await holds.reject(hold_id, comment ?? REFUSED);
    else await holds.withdraw(hold_id, comment ?? REFUSED);
    return true;
  }
  if (!can_decide.ok) throw mayNot(hold, invocation);
  // Covers the inputs that the program was shown. If they have changed since, the release is refused.
  await holds.release(hold_id, { input_hash, ...(comment === undefined ? {} : { comment }), ...more });
  return true;
};

const mayNot = ({ hold_id, tool_id, can_decide }: Hold, invocation: Invocation): Held =>
  new Held(
    {
      type: 'urn:capstan:problem:held',
      title: 'held',
      status: 202,
      detail: `${tool_id} waits for a person, and this key may not release it: ${can_decide.why}`,
      code: 0,
      suggestion: `Somebody else decides: capstan release ${hold_id}, or capstan reject ${hold_id} --comment "…".`,
      invocation_id: invocation.invocation_id,
      hold_id,
    },
    { invocation },
  );

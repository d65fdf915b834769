import type { Relay } from '@capstan/queue';
import {
  ENDED,
  type EndSignals,
  isReturn,
  keptResult,
  MAX_PAYLOAD_BYTES,
  type Settled,
  type Settlement,
} from '@capstan/store';
import type { Ending } from './settler.js';

/** Room in a message for its address and the time. */
const MAX_BYTES = MAX_PAYLOAD_BYTES - 100;

type Told = {
  signals: EndSignals;
  /** What has to be said once it is written, and cannot ride on the statement. */
  tellHere(settled: readonly Settled[]): void;
};

/**
 * What the statement that ends calls says as it commits: the results themselves where they are small, so that whoever waits
 * need not look; ids where they are not, or where some of the batch were refused.
 */
export function endSignals(relay: Relay, endings: readonly Ending[], offers: readonly string[]): Told {
  const ended = endings.filter(({ settlement }) => !isReturn(settlement));
  const { messages, large } = pack(ended.map(({ settlement }) => settlement));
  const ids = ended.map(({ settlement }) => settlement.invocation_id);
  const followed = ended.filter((ending) => ending.followed).map(({ settlement }) => settlement.invocation_id);
  const riding = [...(relay.riding('followed', followed) ?? []), ...(relay.riding('room', offers) ?? [])];
  const settledRides = relay.riding('settled', ids);
  return {
    signals: {
      all: [...messages, ...(relay.riding('settled', large) ?? []), ...riding],
      some: [...(settledRides ?? []), ...riding],
    },
    tellHere: (settled) => {
      if (settledRides !== null) return;
      const isWhole = settled.every((one) => one !== null);
      relay.publish('settled', isWhole ? large : ids);
      relay.publish('followed', followed);
    },
  };
}

/** Results in as few messages as they fit in, and the ids of those that fit in none. */
function pack(settlements: readonly Settlement[]): { messages: string[]; large: string[] } {
  const messages: string[] = [];
  const large: string[] = [];
  let open: string[] = [];
  let bytes = 0;
  const close = () => {
    if (open.length > 0) messages.push(`${ENDED} [${open.join()}]`);
    open = [];
    bytes = 0;
  };
  for (const settlement of settlements) {
    const text = outcomeText(settlement);
    const size = Buffer.byteLength(text) + 1;
    if (size > MAX_BYTES) {
      large.push(settlement.invocation_id);
      continue;
    }
    if (bytes + size > MAX_BYTES) close();
    open.push(text);
    bytes += size;
  }
  close();
  return { messages, large };
}

/** As an InvocationOutcome, without the time. */
function outcomeText(settlement: Settlement): string {
  const { invocation_id, status, attempt } = settlement;
  const kept = keptResult(settlement);
  const result = kept && {
    success: kept.success,
    payload: kept.payload,
    error: settlement.error,
    code: kept.code,
    declared_side_effects: kept.declared_side_effects,
    artifacts: kept.artifacts,
    facts: kept.facts,
    duration_ms: kept.duration_ms,
    exit_code: kept.exit_code,
    truncated: kept.truncated,
    input_hash: kept.input_hash,
    output_hash: kept.output_hash,
    chain_hash: null,
  };
  return JSON.stringify({ invocation_id, status, attempt, result });
}

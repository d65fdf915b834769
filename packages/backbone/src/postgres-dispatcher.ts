import type { RunnerType } from '@capstan/contracts';
import { type Offers, onReceipt, openOffers, type Relay } from '@capstan/queue';
import { type HandOver, MAX_PAYLOAD_BYTES, type NewInvocation } from '@capstan/store';
import { nanoid } from 'nanoid';
import { givenTo, toGiven } from './given.js';
import { type Dispatcher, mayBeHandedOver, openWaker, type Plan, sayReady } from './hand-over.js';

/** Room in a message for the address and what frames the calls. */
const MAX_CALLS_BYTES = MAX_PAYLOAD_BYTES - 200;

/** A receipt as it fills up. `calls` is the text of its message; empty where its worker has to own it first. */
type Open = { receipt: HandOver; common: string; calls: string[]; bytes: number };

/**
 * Workers offer room while nothing waits. Calls are handed to them with their commit: the statement writes the receipt and
 * sends the calls along, so that nobody claims and nobody loads. A call that may be repeated begins at once; for any
 * other its worker makes the receipt its own first, so that it is known whether it had begun.
 */
export function postgresDispatcher(relay: Relay): Dispatcher {
  const offers = openOffers(relay);
  const waker = openWaker(relay);
  return {
    plan: (rows) => {
      const left: RunnerType[] = [];
      const receipts = assign(offers, rows, left);
      const ready = sayReady(relay, left);
      const here = receipts.filter(({ receipt }) => relay.receiverHere(givenTo(receipt.worker_id ?? '')));
      return {
        hand_over: receipts.map((open) => toHandOver(open, here.includes(open))),
        signals: ready.signals,
        committed: (handed) => {
          ready.afterwards();
          tellHere(relay, here, handed);
          const refused = receipts.filter(({ receipt }) => !handed.includes(receipt.claim_id));
          relay.publish(
            'ready',
            refused.map(({ receipt }) => receipt.runner),
          );
        },
      } satisfies Plan;
    },
    ...waker,
    idle: () => Promise.resolve(),
    close: () => {
      waker.close();
      offers.close();
    },
  };
}

/** Receipts for as many calls as workers offer room for; the runner types of the others are added to `left`. */
function assign(offers: Offers, rows: readonly NewInvocation[], left: RunnerType[]): Open[] {
  const open = new Map<string, Open>();
  const full: Open[] = [];
  for (const row of rows) {
    if (row.status !== 'queued') continue;
    const offer = mayBeHandedOver(row) ? offers.best(row.runner) : null;
    if (!offer) {
      left.push(row.runner);
      continue;
    }
    offers.use(row.runner, offer.worker_id, 1);
    const { common, call } = row.idempotent ? toGiven(row) : { common: '', call: '' };
    const key = `${offer.worker_id} ${row.runner} ${common}`;
    const most = row.idempotent ? 100 : onReceipt(row.runner);
    let into = open.get(key);
    if (into && (into.receipt.ids.length >= most || into.bytes + Buffer.byteLength(call) + 1 > MAX_CALLS_BYTES)) {
      full.push(into);
      into = undefined;
    }
    if (!into) {
      const { runner, idempotent } = row;
      const receipt = { claim_id: `clm_${nanoid()}`, runner, worker_id: offer.worker_id, owned: idempotent, ids: [] };
      into = { receipt, common, calls: [], bytes: Buffer.byteLength(common) };
      open.set(key, into);
    }
    into.receipt.ids.push(row.invocation_id);
    into.calls.push(call);
    into.bytes += Buffer.byteLength(call) + 1;
  }
  return [...full, ...open.values()];
}

const toHandOver = (open: Open, isHere: boolean): HandOver => ({
  ...open.receipt,
  signals: isHere ? [] : [`${givenTo(open.receipt.worker_id ?? '')} ${contentsOf(open)}`],
});

/** Too large for a message, a call is looked up by its worker. */
function contentsOf({ receipt, common, calls, bytes }: Open): string {
  const { claim_id, runner, owned } = receipt;
  const fits = owned && bytes <= MAX_CALLS_BYTES;
  const head = `"claim_id":"${claim_id}","runner":"${runner}","owned":${owned}`;
  return fits ? `{${head},"common":${common},"calls":[${calls.join()}]}` : `{${head}}`;
}

function tellHere(relay: Relay, here: readonly Open[], handed: readonly string[]): void {
  for (const open of here)
    if (handed.includes(open.receipt.claim_id))
      relay.receiverHere(givenTo(open.receipt.worker_id ?? ''))?.(contentsOf(open));
}

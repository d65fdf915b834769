import { type Offers, onReceipt, openOffers, type Relay } from '@capstan/queue';
import { type HandOver, MAX_PAYLOAD_BYTES, type NewInvocation } from '@capstan/store';
import { nanoid } from 'nanoid';
import { givenTo, toGiven } from './given.js';
import { mayBeHandedOver } from './hand-over.js';

/** Room in a message for the address and what frames the calls. */
const MAX_CALLS_BYTES = MAX_PAYLOAD_BYTES - 200;

/** A receipt as it fills up. `calls` is the text of its message; empty where its worker has to own it first. */
type Open = { receipt: HandOver; common: string; calls: string[]; bytes: number };

export type Given = {
  hand_over: HandOver[];
  /** Calls that no worker has room for, or that may not be handed over. */
  left: NewInvocation[];
  /** To be called once all of it is committed, with the receipts that were written; answers those that were not. */
  committed(handed: readonly string[]): HandOver[];
};

/**
 * Workers offer room while nothing waits. Calls are handed to them with their commit: the statement writes the receipt and
 * sends the calls along, so that nobody claims and nobody loads. A call that may be repeated begins at once; for any
 * other its worker makes the receipt its own first, so that it is known whether it had begun.
 */
export function openGiving(relay: Relay): { give(rows: readonly NewInvocation[]): Given; close(): void } {
  const offers = openOffers(relay);
  return {
    give: (rows) => {
      const left: NewInvocation[] = [];
      const receipts = assign(offers, rows, left);
      const here = new Set(receipts.filter(({ receipt }) => relay.receiverHere(givenTo(receipt.worker_id ?? ''))));
      return {
        hand_over: receipts.map((open) => toHandOver(open, here.has(open))),
        left,
        committed: (handed) => {
          tellHere(relay, here, handed);
          return receipts.map(({ receipt }) => receipt).filter(({ claim_id }) => !handed.includes(claim_id));
        },
      };
    },
    close: offers.close,
  };
}

/** Receipts for as many calls as workers offer room for; the others are added to `left`. */
function assign(offers: Offers, rows: readonly NewInvocation[], left: NewInvocation[]): Open[] {
  const open = new Map<string, Open>();
  const full: Open[] = [];
  for (const row of rows) {
    if (row.status !== 'queued') continue;
    const offer = mayBeHandedOver(row) ? offers.best(row.runner) : null;
    if (!offer) {
      left.push(row);
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

function tellHere(relay: Relay, here: Iterable<Open>, handed: readonly string[]): void {
  for (const open of here)
    if (handed.includes(open.receipt.claim_id))
      relay.receiverHere(givenTo(open.receipt.worker_id ?? ''))?.(contentsOf(open));
}

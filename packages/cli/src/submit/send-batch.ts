import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError, type Client, UnreachableError } from '@capstan/client';
import type { BulkItem, Problem } from '@capstan/contracts';
import type { Entry } from './read-submissions.js';

/** The outcome of one entry: accepted with an id, or refused with a problem. */
export type Sent = {
  index: number;
  place: string;
  status: BulkItem['status'];
  invocation_id?: string | undefined;
  problem?: Problem | undefined;
};
/** A batch is one run, or several if it had to be split. `sent` is in input order. */
export type SentBatch = { run_ids: string[]; sent: Sent[] };

type Sender = { client: Pick<Client, 'submitBulk'>; signal: AbortSignal; retry_ms?: number };

const MAX_TRIES = 8;
const MAX_PAUSE_MS = 10_000;

/**
 * Sends one batch as a bulk. An overloaded gateway accepts nothing, so the bulk is sent again. A bulk that is too large for
 * this gateway is split in half, and a single item that is too large is reported as invalid.
 */
export const sendBatch = async (batch: readonly Entry[], sender: Sender): Promise<SentBatch> => {
  const values = batch.filter((entry) => entry.kind === 'value');
  const malformed = batch.filter((entry) => entry.kind === 'malformed').map(toMalformed);
  const { run_ids, sent } = values.length === 0 ? { run_ids: [], sent: [] } : await sendValues(values, sender);
  return { run_ids, sent: [...sent, ...malformed].sort((one, other) => one.index - other.index) };
};

type ValueEntry = Extract<Entry, { kind: 'value' }>;

const sendValues = async (entries: readonly ValueEntry[], sender: Sender): Promise<SentBatch> => {
  try {
    const answer = await submitPatiently(
      entries.map(({ value }) => value),
      sender,
    );
    return { run_ids: [answer.run_id], sent: answer.items.flatMap((item) => toSent(item, entries[item.index])) };
  } catch (error) {
    if (!(error instanceof CapstanError) || error.status !== 413) throw error;
    const [first, ...more] = entries;
    if (first !== undefined && more.length === 0) {
      return { run_ids: [], sent: [{ ...at(first), status: 'invalid', problem: error.problem }] };
    }
    const half = Math.ceil(entries.length / 2);
    const one = await sendValues(entries.slice(0, half), sender);
    const other = await sendValues(entries.slice(half), sender);
    return { run_ids: [...one.run_ids, ...other.run_ids], sent: [...one.sent, ...other.sent] };
  }
};

const submitPatiently = async (values: readonly unknown[], { client, signal, retry_ms = 250 }: Sender) => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.submitBulk(values, { signal });
    } catch (error) {
      // Do not retry if nothing listens at the URL.
      if (!(error instanceof CapstanError) || error instanceof UnreachableError) throw error;
      if (!error.retryable || tries >= MAX_TRIES) throw error;
      const pause = error.retry_after_s === null ? retry_ms * 2 ** (tries - 1) : error.retry_after_s * 1000;
      await delay(Math.min(MAX_PAUSE_MS, pause), undefined, { signal });
    }
  }
};

const at = ({ index, place }: Entry): Pick<Sent, 'index' | 'place'> => ({ index, place });

const toSent = ({ index: _within, ...item }: BulkItem, entry: ValueEntry | undefined): Sent[] =>
  entry === undefined ? [] : [{ ...at(entry), ...item }];

const toMalformed = (entry: Extract<Entry, { kind: 'malformed' }>): Sent => ({
  ...at(entry),
  status: 'invalid',
  problem: {
    type: 'urn:capstan:problem:malformed_json',
    title: 'malformed json',
    status: 400,
    detail: `not JSON: ${entry.reason}`,
    code: 3001,
    suggestion: 'Expected one JSON object per line, or a JSON array of objects.',
  },
});

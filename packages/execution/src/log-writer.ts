import { setTimeout as delay } from 'node:timers/promises';
import type { LogStream } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import { appendLogs, type Claimed, groupCommit, isUnavailable, type LogLine, type Store } from '@capstan/store';
import { storableText } from './storable.js';

/** Live output goes to Postgres in batches, and a signal tells who follows it; so it can be resumed and read later. */
export type LogWriter = {
  write(claimed: Claimed, stream: LogStream, text: string): void;
  /** The lines of a call that was begun elsewhere go on after these. */
  goOnAfter(claimed: Claimed, seq: number): void;
  /** Null when this invocation logged nothing; else resolves when its lines are written. */
  written(claimed: Claimed): Promise<void> | null;
};

const MAX_WAITING = 10_000;

export function createLogWriter(store: Store, relay: Relay, onError: (error: unknown) => void): LogWriter {
  const seqs = new WeakMap<Claimed, number>();
  const commit = groupCommit<LogLine, true>({
    write: async (lines) => {
      await untilWritten(() => appendLogs(store, lines));
      relay.publish('log', [...new Set(lines.map((line) => line.invocation_id))]);
      return lines.map(() => true as const);
    },
    max_batch: 500,
    max_waiting: MAX_WAITING,
    isolate: () => false,
  });
  return {
    write: (claimed, stream, text) => {
      if (text === '') return;
      const seq = (seqs.get(claimed) ?? 0) + 1;
      seqs.set(claimed, seq);
      const { invocation_id, attempt } = claimed;
      commit({ invocation_id, attempt, seq, stream, text: storableText(text) }).catch(onError);
    },
    goOnAfter: (claimed, seq) => {
      if (seq > 0) seqs.set(claimed, seq);
    },
    written: (claimed) => (seqs.has(claimed) ? commit.idle() : null),
  };
}

const RETRY_MS = 250;
const TRIES = 40;

/** Lines have their place by attempt and number, so writing them twice writes them once. */
async function untilWritten(write: () => Promise<unknown>): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isUnavailable(error) || left <= 1) throw error;
      await delay(RETRY_MS);
    }
  }
}

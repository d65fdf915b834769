import type { LogStream } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import { groupCommit, type Store } from '@capstan/store';
import type { Claimed } from '@capstan/store/claim';
import { appendLogs, type LogLine } from '@capstan/store/log';
import { retryWhileUnavailable } from './retry-while-unavailable.js';
import { storableText } from './storable.js';

/** Writes live output to Postgres in batches and signals followers. Readers can resume it, and read it later. */
export type LogWriter = {
  write(claimed: Claimed, stream: LogStream, text: string): void;
  /** Continues the numbering of a call whose lines another process wrote, too. */
  goOnAfter(claimed: Claimed, seq: number): void;
  /** Resolves when the lines of this invocation are written. Null if it logged nothing. */
  written(claimed: Claimed): Promise<void> | null;
};

const MAX_WAITING = 10_000;
const MAX_TRIES = 40;

export function createLogWriter(store: Store, relay: Relay, onError: (error: unknown) => void): LogWriter {
  const seqs = new WeakMap<Claimed, number>();
  const commit = groupCommit<LogLine, true>({
    write: async (lines) => {
      // Lines are keyed by attempt and number, so writing them twice is harmless.
      await retryWhileUnavailable(
        () => appendLogs(store, lines),
        (tries) => tries < MAX_TRIES,
      );
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
      if (seq > (seqs.get(claimed) ?? 0)) seqs.set(claimed, seq);
    },
    written: (claimed) => (seqs.has(claimed) ? commit.idle() : null),
  };
}

import { EXIT, type ExitCode, exitCodeOf, gravest } from '../exit-code.js';
import type { Outcome } from './await-runs.js';
import type { Sent } from './send-batch.js';

export type Counts = { submitted: number; accepted: number; held: number; denied: number; invalid: number };

export type Tally = {
  counts: Counts;
  add(sent: readonly Sent[]): void;
  /** Success if everything was accepted. */
  exitCode(): ExitCode;
};

/** Counts how the gateway answered each item. */
export const createTally = (): Tally => {
  const counts: Counts = { submitted: 0, accepted: 0, held: 0, denied: 0, invalid: 0 };
  return {
    counts,
    add(sent) {
      counts.submitted += sent.length;
      for (const { status } of sent) {
        counts[status === 'held' || status === 'denied' || status === 'invalid' ? status : 'accepted'] += 1;
      }
    },
    exitCode() {
      if (counts.invalid > 0) return EXIT.failed;
      if (counts.denied > 0) return EXIT.denied;
      return counts.held > 0 ? EXIT.held : EXIT.success;
    },
  };
};

/** Success if everything succeeded. */
export const exitCodeOfOutcomes = (statuses: ReadonlySet<Outcome['status']>): ExitCode =>
  gravest(new Set([...statuses].map((status) => (status === 'invalid' ? EXIT.failed : exitCodeOf(status)))));

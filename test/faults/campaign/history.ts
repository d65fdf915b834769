import type { InvocationStatus } from '@capstan/contracts';

/** What is called: a sum inside of the worker, a GET that may be repeated, a POST that may not. */
export interface Call {
  readonly key: string;
  readonly tool: 'sum' | 'get' | 'post';
  /** Policy holds it until a person votes. */
  readonly held: boolean;
}

export type Operation = 'submit' | 'cancel' | 'vote' | 'redrive' | 'claim' | 'start' | 'answer' | 'settle' | 'rescue';

/** `unknown`: no answer came, or one that leaves open whether it took effect. */
export type Outcome = 'ok' | 'failed' | 'unknown';

/**
 * One operation on one call. Clients see `submit`, `cancel`, `vote` and `redrive`; the tool, outside of the system, sees `start` and
 * `answer`; `claim`, `settle` and `rescue` are what the system itself has on record afterwards.
 */
export interface Operated {
  readonly op: Operation;
  readonly key: string;
  /** Milliseconds of this machine's clock; `began` before the request, `at` after its answer. */
  readonly began: number;
  readonly at: number;
  readonly outcome: Outcome;
  /** Of the invocation, where an answer named it. */
  readonly invocation_id?: string;
  readonly status?: InvocationStatus;
  readonly detail?: string;
}

/** How an invocation stands after the run, as the API tells it. */
export interface End {
  readonly key: string;
  readonly invocation_id: string;
  readonly status: InvocationStatus;
  readonly attempt: number;
  /** Milliseconds; null while it has not ended. */
  readonly finished_at: number | null;
  /** Whether the result, if there is one, is that of this call. */
  readonly result_fits: boolean;
  /** Whether hashes and seal are right. */
  readonly verified: boolean;
}

export interface History {
  readonly calls: readonly Call[];
  readonly operations: readonly Operated[];
  readonly ends: readonly End[];
}

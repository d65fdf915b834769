import type { InvocationStatus } from '@capstan/contracts';

/** One call: a sum inside the worker, a GET that may be repeated, or a POST that may not. */
export interface Call {
  readonly key: string;
  readonly tool: 'sum' | 'get' | 'post';
  /** Policy holds it until a person votes. */
  readonly held: boolean;
}

export type Operation = 'submit' | 'cancel' | 'vote' | 'redrive' | 'claim' | 'start' | 'answer' | 'settle' | 'rescue';

/** `unknown`: there was no answer, or one that does not say whether the operation took effect. */
export type Outcome = 'ok' | 'failed' | 'unknown';

/**
 * One operation on one call. Clients observe `submit`, `cancel`, `vote` and `redrive`. The tool, outside the system, observes `start` and
 * `answer`. `claim`, `settle` and `rescue` come from the records of the system afterwards.
 */
export interface Operated {
  readonly op: Operation;
  readonly key: string;
  /** In milliseconds of this machine's clock: `began` is before the request, `at` after its answer. */
  readonly began: number;
  readonly at: number;
  readonly outcome: Outcome;
  /** The invocation, if the answer named it. */
  readonly invocation_id?: string;
  readonly status?: InvocationStatus;
  readonly detail?: string;
}

/** The state of an invocation after the run, from the API. */
export interface End {
  readonly key: string;
  readonly invocation_id: string;
  readonly status: InvocationStatus;
  readonly attempt: number;
  /** In milliseconds, or null if it has not ended. */
  readonly finished_at: number | null;
  /** Whether the result, if there is one, belongs to this call. */
  readonly result_fits: boolean;
  /** Whether hashes and record verify. */
  readonly verified: boolean;
}

export interface History {
  readonly calls: readonly Call[];
  readonly operations: readonly Operated[];
  readonly ends: readonly End[];
}

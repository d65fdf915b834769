import type { Invocation, InvocationStatus, Problem, Waiting } from '@capstan/contracts';

export type ErrorOptions = {
  /** The value of `Retry-After`, if the gateway sent one. */
  retry_after_s?: number | null | undefined;
  /** The call that the error is about, if it was recorded. */
  invocation?: Invocation | undefined;
  cause?: unknown;
};

/** The base class of all errors of this package. `code` is that of the problem document, or 0 if there is none. */
export class CapstanError extends Error {
  override readonly name: string = 'CapstanError';
  readonly status: number;
  readonly code: number;
  readonly detail: string;
  readonly suggestion: string;
  readonly problem: Problem;
  readonly retry_after_s: number | null;
  readonly invocation: Invocation | null;

  constructor(problem: Problem, { retry_after_s = null, invocation, cause }: ErrorOptions = {}) {
    super(problem.detail, cause === undefined ? undefined : { cause });
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.suggestion = problem.suggestion;
    this.problem = problem;
    this.retry_after_s = retry_after_s;
    this.invocation = invocation ?? null;
  }

  /** True if nothing was accepted and the same request may succeed later. */
  get retryable(): boolean {
    return this.status === 429 || this.status === 503;
  }

  /** The id of the recorded call, for `capstan show <id>`. */
  get invocation_id(): string | null {
    return this.invocation?.invocation_id ?? textOf(this.problem.invocation_id);
  }
}

/** The policy or a person refused the call. */
export class Denied extends CapstanError {
  override readonly name = 'Denied';
  /** The rule that decided. */
  get rule_matched(): string | null {
    return this.invocation?.decision.rule_matched ?? textOf(memberOf(this.problem.decision, 'rule_matched'));
  }
}

/** The call waits for approval, and runs once it is released. */
export class Held extends CapstanError {
  override readonly name = 'Held';
  get hold_id(): string | null {
    return this.invocation?.hold_id ?? textOf(this.problem.hold_id);
  }
}

/** The tool ran and reported an error, or could not be run. */
export class Failed extends CapstanError {
  override readonly name = 'Failed';
}

/** The tool exceeded its timeout, the call expired in the queue, or it did not end while the caller waited. */
export class TimedOut extends CapstanError {
  override readonly name = 'TimedOut';
}

/** The tool may have taken effect. A person has to find out, and resolve or redrive the call. */
export class Ambiguous extends CapstanError {
  override readonly name = 'Ambiguous';
}

/** Somebody canceled the call. */
export class Canceled extends CapstanError {
  override readonly name = 'Canceled';
}

/** The request or the inputs are invalid. */
export class Invalid extends CapstanError {
  override readonly name = 'Invalid';
}

/** The tool, invocation, run or hold does not exist in the tenant of the key. */
export class NotFound extends CapstanError {
  override readonly name = 'NotFound';
}

/** The request conflicts with the current state: for example the call has ended, or the idempotency key belongs to another call. */
export class Conflict extends CapstanError {
  override readonly name = 'Conflict';
}

/** The key is missing or unknown, or lacks the required role. */
export class Unauthorized extends CapstanError {
  override readonly name = 'Unauthorized';
}

/** A quota is used up; `retry_after_s` says when there is room again. */
export class QuotaExceeded extends CapstanError {
  override readonly name = 'QuotaExceeded';
}

/** The gateway, or something it depends on, is unavailable. */
export class Unavailable extends CapstanError {
  override readonly name: string = 'Unavailable';
}

type ErrorClass = new (problem: Problem, options?: ErrorOptions) => CapstanError;

/** Returns the error for a problem document. */
export const errorOfProblem = (problem: Problem, options?: ErrorOptions): CapstanError =>
  new (classOfProblem(problem))(problem, options);

const OUTCOME_UNKNOWN = 2009;
const CANCELED = 2007;

const classOfProblem = ({ status, code }: Problem): ErrorClass => {
  if (code === OUTCOME_UNKNOWN) return Ambiguous;
  if (code === CANCELED) return Canceled;
  if (status === 401) return Unauthorized;
  if (status === 403) return code >= 6000 && code < 7000 ? Unauthorized : Denied;
  if (status === 404) return NotFound;
  if (status === 409 || status === 412) return Conflict;
  if (status === 410 || status === 504) return TimedOut;
  if (status === 429) return QuotaExceeded;
  if (status < 500) return Invalid;
  return code >= 2000 && code < 3000 ? Failed : Unavailable;
};

/** Returns the error for a call without a payload, or null if it succeeded. `waiting` says why a call has not started. */
export const errorOfInvocation = (invocation: Invocation & { waiting?: Waiting | null }): CapstanError | null => {
  const outcome = OUTCOMES[invocation.status];
  if (outcome === null) return null;
  const { invocation_id, tool_id, decision, result, hold_id, waiting } = invocation;
  const why = outcome.error === TimedOut && waiting ? waiting : null;
  const problem: Problem = {
    type: `urn:capstan:problem:${invocation.status}`,
    title: invocation.status.replaceAll('_', ' '),
    status: outcome.status,
    detail: `${tool_id} ${outcome.says(result?.error ?? decision.reason)}${why ? `, and ${why.detail}` : ''}`,
    code: result?.code ?? outcome.code,
    suggestion: why?.suggestion ?? outcome.suggests(hold_id ?? invocation_id),
    invocation_id,
    decision,
    ...(hold_id === null ? {} : { hold_id }),
  };
  return new outcome.error(problem, { invocation });
};

type Outcome = {
  error: ErrorClass;
  status: number;
  code: number;
  says(reason: string): string;
  suggests(id: string): string;
};

const seeIt = (id: string): string => `capstan show ${id} has its whole story.`;
const stillOnItsWay = (how: string): Outcome => ({
  error: TimedOut,
  status: 202,
  code: 0,
  says: () => `has not ended in time: it is ${how}`,
  suggests: (id) => `Wait longer, or wait for ${id} later.`,
});

const OUTCOMES: Record<InvocationStatus, Outcome | null> = {
  succeeded: null,
  denied: { error: Denied, status: 403, code: 1001, says: (why) => `was denied: ${why}`, suggests: seeIt },
  rejected: { error: Denied, status: 403, code: 1001, says: () => 'was rejected by a person', suggests: seeIt },
  held: {
    error: Held,
    status: 202,
    code: 0,
    says: (why) => `waits for a person: ${why}`,
    suggests: (id) => `Decide on it: capstan release ${id}, or capstan reject ${id} --comment "…".`,
  },
  failed: { error: Failed, status: 502, code: 2003, says: (why) => `failed: ${why}`, suggests: seeIt },
  timed_out: { error: TimedOut, status: 504, code: 2004, says: (why) => `timed out: ${why}`, suggests: seeIt },
  expired: { error: TimedOut, status: 410, code: 3009, says: () => 'expired before it could run', suggests: seeIt },
  canceled: { error: Canceled, status: 409, code: CANCELED, says: () => 'was canceled', suggests: seeIt },
  ambiguous: {
    error: Ambiguous,
    status: 409,
    code: OUTCOME_UNKNOWN,
    says: () => 'was lost on its way: whether it took effect is not known',
    suggests: (id) => `Find out, then: capstan resolve ${id} succeeded|failed, or capstan redrive ${id}`,
  },
  deferred: stillOnItsWay('deferred'),
  queued: stillOnItsWay('queued'),
  running: stillOnItsWay('running'),
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

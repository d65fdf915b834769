import type { Invocation, InvocationStatus, Problem } from '@capstan/contracts';

export type ErrorOptions = {
  /** What `Retry-After` says, when the gateway sent one. */
  retry_after_s?: number | null | undefined;
  /** The call that the error is about, when there is a record of it. */
  invocation?: Invocation | undefined;
  cause?: unknown;
};

/** Every error of this package. `code` is that of the problem document, and 0 where no gateway wrote one. */
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

  /** Nothing was taken and the same request may pass later. */
  get retryable(): boolean {
    return this.status === 429 || this.status === 503;
  }

  /** Where the call is on record: `capstan show <id>`. */
  get invocation_id(): string | null {
    return this.invocation?.invocation_id ?? textOf(this.problem.invocation_id);
  }
}

/** Policy refused the call, or a person did. */
export class Denied extends CapstanError {
  override readonly name = 'Denied';
  /** The rule that decided. */
  get rule_matched(): string | null {
    return this.invocation?.decision.rule_matched ?? textOf(memberOf(this.problem.decision, 'rule_matched'));
  }
}

/** The call waits for a person, and runs once it is released. */
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

/** The tool took longer than it may, the call expired in its queue, or it has not ended in the time that the caller waited. */
export class TimedOut extends CapstanError {
  override readonly name = 'TimedOut';
}

/** The tool may have taken effect: a person has to find out, and resolve or redrive the call. */
export class Ambiguous extends CapstanError {
  override readonly name = 'Ambiguous';
}

/** Somebody canceled the call. */
export class Canceled extends CapstanError {
  override readonly name = 'Canceled';
}

/** The request or the inputs are not what the interface or the tool takes. */
export class Invalid extends CapstanError {
  override readonly name = 'Invalid';
}

/** There is no such tool, invocation, run or hold in the tenant of the key. */
export class NotFound extends CapstanError {
  override readonly name = 'NotFound';
}

/** What was asked for does not fit how things stand: it has ended already, or the idempotency key belongs to another call. */
export class Conflict extends CapstanError {
  override readonly name = 'Conflict';
}

/** The key is missing or unknown, or has not the role. */
export class Unauthorized extends CapstanError {
  override readonly name = 'Unauthorized';
}

/** A quota is used up; `retry_after_s` says when there is room again. */
export class QuotaExceeded extends CapstanError {
  override readonly name = 'QuotaExceeded';
}

/** The gateway, or what it depends on, cannot answer now. */
export class Unavailable extends CapstanError {
  override readonly name: string = 'Unavailable';
}

type ErrorClass = new (problem: Problem, options?: ErrorOptions) => CapstanError;

/** The error for a problem document. */
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

/** What stands between a caller and the payload: null of a call that succeeded. */
export const errorOfInvocation = (invocation: Invocation): CapstanError | null => {
  const outcome = OUTCOMES[invocation.status];
  if (outcome === null) return null;
  const { invocation_id, tool_id, decision, result, hold_id } = invocation;
  const problem: Problem = {
    type: `urn:capstan:problem:${invocation.status}`,
    title: invocation.status.replaceAll('_', ' '),
    status: outcome.status,
    detail: `${tool_id} ${outcome.says(result?.error ?? decision.reason)}`,
    code: result?.code ?? outcome.code,
    suggestion: outcome.suggests(hold_id ?? invocation_id),
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
    suggests: (id) => `Release or reject it: capstan release ${id}`,
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

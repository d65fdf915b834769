import type { Problem } from '@capstan/contracts';

/** The gateway refused: its problem document, as an error. */
export class CapstanError extends Error {
  override readonly name = 'CapstanError';
  readonly status: number;
  readonly code: number;
  readonly detail: string;
  readonly suggestion: string;
  readonly problem: Problem;
  /** What `Retry-After` says, when the gateway sent one. */
  readonly retry_after_s: number | null;

  constructor(problem: Problem, retry_after_s: number | null = null) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.suggestion = problem.suggestion;
    this.problem = problem;
    this.retry_after_s = retry_after_s;
  }

  /** Nothing was taken and the same request may pass later. */
  get retryable(): boolean {
    return this.status === 429 || this.status === 503;
  }
}

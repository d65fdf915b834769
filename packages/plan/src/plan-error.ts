import { Failure } from '@capstan/contracts';

/** A mistake in a plan and its position. Lines and columns start at 1, and exist only if the plan was text. */
export type PlanError = { field: string; message: string; line?: number; column?: number; suggestion?: string };

/** A mistake at a path in the document. With `key`, it concerns that key of the value. */
export type Mistake = { path: readonly PropertyKey[]; key?: string; message: string; suggestion?: string | undefined };

const MAX_TOLD = 50;

/** All mistakes in a plan, in document order. */
export class PlanFailure extends Failure {
  readonly errors: readonly PlanError[];

  constructor(found: readonly PlanError[]) {
    const errors = [...found].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
    const [first] = errors;
    const where = first?.line === undefined ? '' : `line ${first.line}, column ${first.column}: `;
    super('PLAN_INVALID', {
      detail: first ? `${where}${first.field || 'the plan'}: ${first.message}` : 'not a plan',
      ...(first?.suggestion ? { suggestion: first.suggestion } : {}),
      context: { errors: errors.slice(0, MAX_TOLD) },
    });
    this.errors = errors;
  }
}

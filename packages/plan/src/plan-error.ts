import { Failure } from '@capstan/contracts';

/** What is wrong with a plan, and where. Lines and columns count from 1, and are known of text only. */
export type PlanError = { field: string; message: string; line?: number; column?: number; suggestion?: string };

/** Somewhere in the document: the path to a value, or to the key of one. */
export type Mistake = { path: readonly PropertyKey[]; key?: string; message: string; suggestion?: string | undefined };

const MAX_TOLD = 50;

/** All that is wrong with a plan, in the order in which it stands there. */
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

import { issueText, JsonObject, Plan, PlanInput, PlanStep } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import { type Mistake, type PlanError, PlanFailure } from './plan-error.js';
import { readDocument } from './read-document.js';
import { didYouMean } from './suggest-name.js';

/** A plan that matches the schema. References and cycles are checked when it is compiled. */
export type ParsedPlan = {
  plan: Plan;
  plan_hash: string;
  /** The document as sent. */
  document: JsonObject;
  toErrors(mistakes: readonly Mistake[]): PlanError[];
};

/** Parses a plan from YAML or JSON text, or from a value. Unknown fields are errors. */
export function parsePlan(source: unknown): ParsedPlan {
  const { value, toErrors } = readDocument(source);
  if (value === null) throw new PlanFailure([{ field: '', message: 'is empty', suggestion: 'Add steps to the plan.' }]);
  const parsed = Plan.safeParse(value);
  if (!parsed.success) throw new PlanFailure(toErrors(parsed.error.issues.flatMap(toMistakes)));
  const document = JsonObject.parse(value);
  return { plan: parsed.data, plan_hash: hashOf(document), document, toErrors };
}

function hashOf(document: JsonObject): string {
  try {
    return hashJson(document);
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    throw new PlanFailure([{ field: '', message: error.message }]);
  }
}

type Issue = Parameters<typeof issueText>[0];

function toMistakes(issue: Issue): Mistake[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path,
      key,
      message: 'is not a known field',
      suggestion: didYouMean(key, fieldsAt(path)),
    }));
  // If one value or a list is allowed, an error within the list says more than that it is neither.
  const inner = issue.code === 'invalid_union' ? issue.errors.find(([first]) => (first?.path.length ?? 0) > 0) : null;
  if (inner && inner.length > 0) return inner.flatMap((each) => toMistakes({ ...each, path: [...path, ...each.path] }));
  if (path.length === 1 && path[0] === 'version')
    return [{ path, message: 'expected "1.0"', suggestion: 'Write version: "1.0", with the quotes.' }];
  return [{ path, message: issueText(issue) }];
}

function fieldsAt([first, , third]: PropertyKey[]): string[] {
  if (first === undefined) return Object.keys(Plan.shape);
  if (first === 'inputs') return Object.keys(PlanInput.shape);
  return third === 'retry' ? ['max_attempts', 'backoff_ms'] : Object.keys(PlanStep.shape);
}

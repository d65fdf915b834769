import { JsonObject, Plan, PlanInput, PlanStep } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import { type Mistake, type PlanError, PlanFailure } from './plan-error.js';
import { readDocument } from './read-document.js';
import { didYouMean } from './suggest-name.js';

/** A plan whose form is right; whether it makes sense is found when it is compiled. */
export type ParsedPlan = {
  plan: Plan;
  plan_hash: string;
  /** As it was sent. */
  document: JsonObject;
  toErrors(mistakes: readonly Mistake[]): PlanError[];
};

/** A plan as YAML or JSON text, or parsed already. Strict: an unknown key is an error. */
export function parsePlan(source: unknown): ParsedPlan {
  const { value, toErrors } = readDocument(source);
  if (value === null) throw new PlanFailure([{ field: '', message: 'is empty', suggestion: 'Write its steps.' }]);
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

type Issue = { code: string; path: PropertyKey[]; message: string; keys?: string[]; errors?: Issue[][] };

function toMistakes(issue: Issue): Mistake[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys' && issue.keys)
    return issue.keys.map((key) => ({
      path,
      key,
      message: 'is not a known field',
      suggestion: didYouMean(key, fieldsAt(path)),
    }));
  // One value or a list of them: what is wrong in the list says more than that it is neither.
  const inner = issue.code === 'invalid_union' ? issue.errors?.find(([first]) => (first?.path.length ?? 0) > 0) : null;
  if (inner && inner.length > 0) return inner.flatMap((each) => toMistakes({ ...each, path: [...path, ...each.path] }));
  if (path.length === 1 && path[0] === 'version')
    return [{ path, message: 'expected "1.0"', suggestion: 'Write version: "1.0", with the quotes.' }];
  return [{ path, message }];
}

function fieldsAt([first, , third]: PropertyKey[]): string[] {
  if (first === undefined) return Object.keys(Plan.shape);
  if (first === 'inputs') return Object.keys(PlanInput.shape);
  return third === 'retry' ? ['max_attempts', 'backoff_ms'] : Object.keys(PlanStep.shape);
}

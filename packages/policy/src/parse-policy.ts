import { Failure, issueText, PolicyDocument } from '@capstan/contracts';
import { readYaml, type YamlText } from '@capstan/expression';
import { findMistakes, type Mistake } from './find-mistakes.js';

export type PolicyError = { field: string; message: string; line?: number; column?: number };

/** Parses a policy from YAML or JSON text, or from a parsed value. */
export function parsePolicy(source: unknown): PolicyDocument {
  return typeof source === 'string' ? parseText(source) : checked(source, () => ({}));
}

function parseText(text: string): PolicyDocument {
  const { value, errors, locate } = readYaml(text);
  if (errors.length > 0) throw invalidPolicy(errors.map((error) => ({ field: '', ...error })));
  return checked(value, locate);
}

function checked(value: unknown, place: YamlText['locate']): PolicyDocument {
  const parsed = PolicyDocument.safeParse(value);
  const mistakes: Mistake[] = parsed.success ? findMistakes(parsed.data) : parsed.error.issues.flatMap(toMistakes);
  if (parsed.success && mistakes.length === 0) return parsed.data;
  throw invalidPolicy(
    mistakes.map(({ path, key, message }) => ({
      field: [...path, ...(key === undefined ? [] : [key])].join('.'),
      message,
      ...place(path, key),
    })),
  );
}

type Issue = Parameters<typeof issueText>[0];

function toMistakes(issue: Issue): Mistake[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: issue.path, key, message: 'is not a known field' }));
  // For a field that takes one value or a list, the mistake inside the list is more helpful than "neither matches".
  const inner = issue.code === 'invalid_union' ? issue.errors.find(([first]) => (first?.path.length ?? 0) > 0) : null;
  return (inner ?? []).length > 0
    ? (inner ?? []).flatMap((each) => toMistakes({ ...each, path: [...issue.path, ...each.path] }))
    : [{ path: issue.path, message: issueText(issue) }];
}

export function invalidPolicy(errors: PolicyError[]): Failure {
  const [first] = errors;
  const where = first?.line === undefined ? '' : `line ${first.line}, column ${first.column}: `;
  return new Failure('POLICY_INVALID', {
    detail: first ? `${where}${first.field || 'the document'}: ${first.message}` : 'not a policy document',
    context: { errors },
  });
}

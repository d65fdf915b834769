import { Failure, PolicyDocument } from '@capstan/contracts';
import { parse } from 'yaml';

/** A policy as YAML or JSON text, or parsed already. */
export function parsePolicy(source: unknown): PolicyDocument {
  const parsed = PolicyDocument.safeParse(typeof source === 'string' ? parseYaml(source) : source);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  const first = errors[0];
  throw new Failure('POLICY_INVALID', {
    detail: first ? `${first.field || 'the document'}: ${first.message}` : 'not a policy document',
    context: { errors },
  });
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Failure('POLICY_INVALID', { detail: error instanceof Error ? error.message : 'not YAML', cause: error });
  }
}

import { Failure, issueText } from '@capstan/contracts';
import type { z } from 'zod';

export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: 'body' | 'query',
): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error, where);
}

export function invalidRequest(error: z.ZodError, where: string): Failure {
  const { message, errors } = invalidFields(error, where);
  return new Failure('INVALID_REQUEST', { detail: message, context: { errors } });
}

export function invalidFields(error: z.ZodError, where: string) {
  const errors = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ field: [...issue.path, key].join('.'), message: 'is not a known field' }))
      : [{ field: issue.path.join('.'), message: issueText(issue) }],
  );
  const first = errors[0];
  const message = first ? `${first.field || `the ${where}`}: ${first.message}` : `the ${where} is not valid`;
  return { message, errors };
}

import { Failure } from '@capstan/contracts';
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
  const errors = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ field: [...issue.path, key].join('.'), message: 'is not a known field' }))
      : [{ field: issue.path.join('.'), message: issue.message }],
  );
  const first = errors[0];
  return new Failure('INVALID_REQUEST', {
    detail: first ? `${first.field || `the ${where}`}: ${first.message}` : `the ${where} is not valid`,
    context: { errors },
  });
}

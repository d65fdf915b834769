import { similarTo } from '@capstan/catalog';
import { Failure } from '@capstan/contracts';
import { z } from 'zod';
import { invalidRequest } from './parse-request.js';

/** The default for routes without query parameters: an unknown one is still an error. */
const NoQuery = z.strictObject({});
/** Created once: a schema per request took a tenth of the gateway's time. */
const Parameters = z.record(z.string(), z.unknown());

/** Refuses unknown parameters. If they were ignored, a misspelled filter would list everything, and a misspelled `validate` would run the call. */
export function parseQuery(schema: z.ZodObject = NoQuery, sent: unknown): Record<string, unknown> {
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(Parameters.parse(sent)).filter((name) => !known.includes(name));
  const parsed = schema.safeParse(sent);
  if (unknown.length > 0 && !(parsed.success && isLoose(schema))) throw unknownParameters(unknown, known);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error, 'query');
}

/** True for callbacks, whose query is written by an identity provider. */
const isLoose = ({ def: { catchall } }: z.ZodObject): boolean => catchall instanceof z.ZodUnknown;

function unknownParameters(unknown: string[], known: string[]): Failure {
  const errors = unknown.map((field) => ({ field, message: 'is not a known query parameter' }));
  const [first = ''] = unknown;
  const [nearest] = similarTo(first, known);
  return new Failure('INVALID_REQUEST', {
    detail: `${first}: is not a known query parameter`,
    suggestion: [...(nearest ? [`Did you mean ${nearest}?`] : []), takes(known)].join(' '),
    context: { errors },
  });
}

const takes = (known: string[]): string =>
  known.length === 0 ? 'This route takes no query parameters.' : `This route takes ${known.join(', ')}.`;

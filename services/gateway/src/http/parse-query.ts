import { similarTo } from '@capstan/catalog';
import { Failure } from '@capstan/contracts';
import { z } from 'zod';
import { invalidRequest } from './parse-request.js';

/** Where nothing is to be asked, an unknown parameter is still an error. */
const NoQuery = z.strictObject({});
/** Once: making a schema for each request took a tenth of the gateway's time. */
const Parameters = z.record(z.string(), z.unknown());

/** A parameter that is not known is refused: ignored, a misspelt filter would show everything, and `validate` would run the call. */
export function parseQuery(schema: z.ZodObject = NoQuery, sent: unknown): Record<string, unknown> {
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(Parameters.parse(sent)).filter((name) => !known.includes(name));
  const parsed = schema.safeParse(sent);
  if (unknown.length > 0 && !(parsed.success && isLoose(schema))) throw unknownParameters(unknown, known);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error, 'query');
}

/** Of a route that somebody else writes the query of, such as an identity provider. */
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

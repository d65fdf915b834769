import type { Binding, Json, JsonObject } from '@capstan/contracts';
import type { RunOutcome } from '../runner.js';
import { ApiCallInputs, callApi } from './api-call.js';
import type { ApiContext } from './api-context.js';
import { invalidInputs } from './failures.js';
import { fillBody, fillQuery, fillUrl, fillValues, isMissing } from './fill-template.js';

type RequestBinding = Extract<Binding, { kind: 'request' }>;

/** A request as an extension describes it, with the inputs in their places. */
export async function boundRequest(
  context: ApiContext,
  binding: RequestBinding,
  inputs: JsonObject,
): Promise<RunOutcome> {
  const parsed = ApiCallInputs.safeParse(toInputs(binding, inputs));
  return parsed.success ? callApi(context, parsed.data) : invalidInputs(parsed.error);
}

function toInputs({ method, url, headers, query, body }: RequestBinding, inputs: JsonObject): JsonObject {
  const filled =
    body === undefined ? inputs.body : isMissing(body, inputs) ? undefined : fillBody(structured(body), inputs);
  const type = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const isForm = type?.startsWith('application/x-www-form-urlencoded') ?? false;
  return {
    method,
    url: url === undefined ? addressOf(inputs) : fillUrl(url, inputs),
    headers: fillValues(headers ?? {}, inputs),
    query: fillQuery(query ?? {}, inputs),
    ...(filled !== undefined && { body: filled }),
    ...(isForm && typeof filled === 'object' && { body_type: 'form' }),
  };
}

/** A body that is written as JSON text is filled as a structure, so that no quote in an input ends a string in it. */
function structured(body: Json): Json {
  if (typeof body !== 'string' || !/^\s{0,50}[[{]/.test(body)) return body;
  try {
    return JSON.parse(body) as Json;
  } catch {
    return body;
  }
}

/** Without an address of its own it takes the caller's, by name or as typed: `/postman get https://…`. */
function addressOf({ url, args }: JsonObject): Json {
  if (url !== undefined) return url;
  return Array.isArray(args) ? (args[0] ?? '') : '';
}

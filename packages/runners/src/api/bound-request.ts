import type { Binding, Json, JsonObject } from '@capstan/contracts';
import type { RunOutcome } from '../runner.js';
import { ApiCallInputs, callApi } from './api-call.js';
import type { ApiContext } from './api-context.js';
import { invalidInputs } from './failures.js';
import { fillBody, fillQuery, fillUrl, fillValues, isMissing, withSeparators } from './fill-template.js';

type RequestBinding = Extract<Binding, { kind: 'request' }>;

/** A request as described by an extension, with the inputs filled in. */
export async function boundRequest(
  context: ApiContext,
  binding: RequestBinding,
  inputs: JsonObject,
): Promise<RunOutcome> {
  const parsed = ApiCallInputs.safeParse(toInputs(binding, inputs));
  return parsed.success ? callApi(context, parsed.data) : invalidInputs(parsed.error);
}

function toInputs(binding: RequestBinding, given: JsonObject): JsonObject {
  const { method, url, headers, query, styles = {}, body } = binding;
  const inputs = withSeparators(given, styles);
  const filled =
    body === undefined ? inputs.body : isMissing(body, inputs) ? undefined : fillBody(structured(body), inputs);
  const type = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const isForm = type?.startsWith('application/x-www-form-urlencoded') ?? false;
  return {
    method,
    url: url === undefined ? addressOf(inputs) : fillUrl(url, inputs),
    headers: fillValues(headers ?? {}, inputs),
    query: fillQuery(query ?? {}, inputs, styles),
    ...(filled !== undefined && { body: filled }),
    ...(isForm && typeof filled === 'object' && { body_type: 'form' }),
  };
}

/** A body of JSON text is filled in as a structure, so that a quote in an input cannot end a string. */
function structured(body: Json): Json {
  if (typeof body !== 'string' || !/^\s{0,50}[[{]/.test(body)) return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** Without an address of its own, it uses the caller's: by name, or as typed in `/postman get https://…`. */
function addressOf({ url, args }: JsonObject): Json {
  if (url !== undefined) return url;
  return Array.isArray(args) ? (args[0] ?? '') : '';
}

import { isObject, type Json, MAX_JSON_DEPTH, type ProviderCall, parseJson } from '@capstan/contracts';

type Read = Pick<ProviderCall, 'arguments' | 'problem'>;

/** Parses arguments as models write them: an object, JSON text, or nothing. Mistakes are reported to the model. */
export function readArguments(sent: Json | undefined): Read {
  if (sent === undefined || sent === null) return { arguments: {}, problem: null };
  if (typeof sent === 'string') return sent.trim() === '' ? { arguments: {}, problem: null } : parseArguments(sent);
  return checkObject(sent, sent);
}

function parseArguments(text: string): Read {
  try {
    const parsed = parseJson(text);
    return parsed === null ? { arguments: {}, problem: null } : checkObject(parsed, text);
  } catch (error) {
    return {
      arguments: text,
      problem: `the arguments are not valid JSON (${error instanceof Error ? error.message : 'unreadable'}); send one JSON object`,
    };
  }
}

function checkObject(value: Json, sent: Json): Read {
  if (!isObject(value))
    return { arguments: sent, problem: `the arguments must be a JSON object, not ${nameOf(value)}` };
  if (isTooDeep(value))
    return { arguments: {}, problem: `the arguments are nested deeper than ${MAX_JSON_DEPTH} levels` };
  return { arguments: value, problem: null };
}

const nameOf = (value: Json) => (Array.isArray(value) ? 'an array' : `a ${typeof value}`);

/** Iterative, because deep values would overflow the stack of a recursive function. */
function isTooDeep(value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

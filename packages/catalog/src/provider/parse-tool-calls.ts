import { Failure, type Json, type Provider, type ProviderCall } from '@capstan/contracts';
import { anthropicCalls, assembleAnthropic } from './anthropic.js';
import { assembleGemini, geminiCalls } from './gemini.js';
import { assembleChat, chatCalls } from './openai-chat.js';
import { assembleResponses, responsesCalls } from './openai-responses.js';
import { readResponse } from './read-response.js';
import { at, textOf } from './shape.js';
import { unwrapParallel } from './unwrap-parallel.js';

/** The calls, in order, and the format for answering them. */
export type ParsedCalls = { format: Provider; calls: ProviderCall[] };

type Format = { calls(body: Json): ProviderCall[] | null; assemble(chunks: Json[]): Json };

const FORMATS: Record<Provider, Format> = {
  openai: { calls: chatCalls, assemble: assembleChat },
  openai_responses: { calls: responsesCalls, assemble: assembleResponses },
  anthropic: { calls: anthropicCalls, assemble: assembleAnthropic },
  gemini: { calls: geminiCalls, assemble: assembleGemini },
};

/** Finds the calls in a model's response, which may be a body, the chunks of a stream, or the text of the stream. */
export function parseToolCalls(provider: Provider, response: Json): ParsedCalls {
  const received = readResponse(response);
  const sample = received.kind === 'body' ? [received.body] : received.chunks;
  const isOpenai = provider.startsWith('openai');
  const format = isOpenai ? openaiFormat(sample, provider) : provider;
  const { calls, assemble } = FORMATS[format];
  // A file with a single chunk may contain a whole body.
  const whole = received.kind === 'body' ? received.body : soleBody(received.chunks, calls);
  const found = calls(whole ?? assemble(sample));
  if (found) return { format, calls: isOpenai ? found.flatMap(unwrapParallel) : found };
  throw new Failure('INVALID_REQUEST', {
    detail: `response: this is not what ${provider} answers; name the provider that sent it.`,
  });
}

function soleBody(chunks: Json[], calls: Format['calls']): Json | null {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined && (calls(only)?.length ?? 0) > 0 ? only : null;
}

/** OpenAI has two APIs. The shape of the body tells which one it is from. */
function openaiFormat(sample: Json[], provider: Provider): Provider {
  if (sample.some((chunk) => at(chunk, 'choices') !== undefined || at(chunk, 'tool_calls') !== undefined))
    return 'openai';
  const isResponses = (chunk: Json) =>
    Array.isArray(at(chunk, 'output')) ||
    at(chunk, 'object') === 'response' ||
    textOf(at(chunk, 'type')).startsWith('response.') ||
    Array.isArray(at(at(chunk, 'response'), 'output'));
  return sample.some(isResponses) ? 'openai_responses' : provider;
}

import { setTimeout as delay } from 'node:timers/promises';
import { Failure, MAX_RESULT_DEPTH, parseJson } from '@capstan/contracts';
import type { Egress, EgressResponse, EgressRules } from '@capstan/egress';
import { createParser } from 'eventsource-parser';
import { anthropicWire } from './anthropic-wire.js';
import type { LlmSettings } from './llm-settings.js';
import { type LlmWire, type Piece, type Prompt, textAt } from './llm-wire.js';
import { openaiWire } from './openai-wire.js';

const WIRES: Record<LlmSettings['provider'], LlmWire> = { openai: openaiWire, anthropic: anthropicWire };

const TRIES = 4;
const BASE_DELAY_MS = 500;
/** If the provider asks to wait longer than this, the retry is left to the next attempt. */
const MAX_DELAY_MS = 10_000;
const MAX_ERROR_BYTES = 65_536;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** The first token of a long answer may take a while. */
const FIRST_BYTE_MS = 120_000;
const IDLE_MS = 120_000;
const BROKE_OFF = "the model's endpoint broke off in the midst of its answer";

export type Usage = Required<Pick<Piece, 'input_tokens' | 'output_tokens'>>;
export type Completion = Usage & {
  stop_reason: string | null;
  model: string;
};

export type CompleteOptions = {
  egress: Egress;
  settings: LlmSettings;
  prompt: Prompt;
  rules: EgressRules;
  signal: AbortSignal;
  onText(text: string): void;
  /** Called as soon as tokens are counted, because an aborted request is charged as well. */
  onUsage(usage: Usage): void;
  onDomain(hostname: string): void;
  random?: () => number;
};

/** Sends the request and yields the answer piece by piece. A request that was refused temporarily is retried a few times. */
export async function complete(options: CompleteOptions): Promise<Completion> {
  const response = await answered(options);
  const total: Completion = { input_tokens: 0, output_tokens: 0, stop_reason: null, model: options.settings.model };
  for await (const piece of piecesOf(WIRES[options.settings.provider], response)) {
    if (piece.error !== undefined) throw refused(`the model's endpoint broke off: ${piece.error}`, true);
    if (piece.text !== undefined && piece.text !== '') options.onText(piece.text);
    if (piece.input_tokens !== undefined) total.input_tokens = piece.input_tokens;
    if (piece.output_tokens !== undefined) total.output_tokens = piece.output_tokens;
    options.onUsage(total);
    if (piece.stop_reason !== undefined) total.stop_reason = piece.stop_reason;
    if (piece.model !== undefined) total.model = piece.model;
  }
  return total;
}

async function answered(options: CompleteOptions): Promise<EgressResponse> {
  for (let left = TRIES - 1; ; left -= 1) {
    const outcome = await ask(options);
    if (!(outcome instanceof Failure)) return outcome;
    if (!outcome.retryable || left === 0) throw outcome;
    const wait = waitFor(TRIES - left, outcome, options.random ?? Math.random);
    if (wait > MAX_DELAY_MS) throw outcome;
    await delay(wait, undefined, { signal: options.signal });
  }
}

async function ask({
  egress,
  settings,
  prompt,
  rules,
  signal,
  onDomain,
}: CompleteOptions): Promise<EgressResponse | Failure> {
  const { url, headers, body } = WIRES[settings.provider].request(settings, prompt);
  try {
    const response = await egress.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json', ...headers },
      body: JSON.stringify(body),
      rules,
      signal,
      // The configured endpoint answers itself; a redirect would send the key elsewhere.
      max_redirects: 0,
      first_byte_timeout_ms: FIRST_BYTE_MS,
      idle_timeout_ms: IDLE_MS,
      onDomain,
    });
    return response.status === 200 ? response : await refusal(response);
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    return error;
  }
}

async function refusal(response: EgressResponse): Promise<Failure> {
  const { bytes } = await response.read({ max_bytes: MAX_ERROR_BYTES, timeout_ms: 10_000 });
  const said = errorIn(bytes.toString('utf8'));
  const again = response.status === 429 || response.status >= 500;
  const failure = refused(`the model's endpoint answered ${response.status}${said === '' ? '' : `: ${said}`}`, again);
  failure.context.retry_after_s = Number(response.headers['retry-after'] ?? Number.NaN);
  return failure;
}

const refused = (detail: string, retryable: boolean): Failure => new Failure('TOOL_ERROR', { detail, retryable });

const errorIn = (body: string): string => {
  try {
    const parsed: unknown = parseJson(body, MAX_RESULT_DEPTH);
    return (textAt(parsed, 'error', 'message') ?? textAt(parsed, 'error') ?? textAt(parsed, 'message') ?? '').slice(
      0,
      500,
    );
  } catch {
    return body.slice(0, 200);
  }
};

const waitFor = (tries: number, failure: Failure, random: () => number): number => {
  const asked = Number(failure.context.retry_after_s) * 1000;
  return asked >= 0 ? asked : BASE_DELAY_MS * 2 ** (tries - 1) * (0.5 + random() / 2);
};

async function* piecesOf(wire: LlmWire, response: EgressResponse): AsyncGenerator<Piece> {
  if (!response.headers['content-type']?.includes('text/event-stream')) {
    const { bytes } = await response.read({ max_bytes: MAX_ANSWER_BYTES, timeout_ms: IDLE_MS });
    yield wire.whole(readJson(bytes.toString('utf8')));
    return;
  }
  let ended = false;
  for await (const data of eventsOf(response)) {
    if (data === '[DONE]') return;
    const piece = wire.event(readJson(data));
    yield piece;
    ended ||= piece.done === true || piece.stop_reason !== undefined;
    if (piece.done) return;
  }
  if (!ended) throw refused(BROKE_OFF, true);
}

async function* eventsOf({ body, discard }: EgressResponse): AsyncGenerator<string> {
  const pending: string[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => void pending.push(data), maxBufferSize: 8 * 1024 * 1024 });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* pending.splice(0);
    }
  } catch (cause) {
    throw cause instanceof Failure ? cause : new Failure('TOOL_ERROR', { detail: BROKE_OFF, retryable: true, cause });
  } finally {
    discard();
  }
}

const readJson = (text: string): unknown => {
  try {
    return parseJson(text, MAX_RESULT_DEPTH);
  } catch {
    throw refused("the model's endpoint sent something that is not JSON", true);
  }
};

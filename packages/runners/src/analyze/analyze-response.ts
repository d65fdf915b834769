import { Failure, type Json, type JsonObject } from '@capstan/contracts';
import type { Egress } from '@capstan/egress';
import { captureOutput } from '../exec/collect/capture-output.js';
import type { Call, RunOutcome, ToolFailure } from '../runner.js';
import type { AnalyzePorts } from './analyze-ports.js';
import { asText, buildPrompt } from './build-prompt.js';
import { complete, type Usage } from './llm/complete.js';
import { type LlmSettings, WHAT_TO_SET } from './llm/llm-settings.js';

export type AnalyzeResponseOptions = { llm: LlmSettings | undefined; ports: AnalyzePorts; egress: Egress };

const DEFAULT_QUESTION = 'Explain this response: what it says, and what matters in it.';
const LAST = 'last_response';

/** Asks a language model about content, or about the result of the session's last call. */
export const analyzeResponse = async (
  call: Call,
  inputs: JsonObject,
  { llm, ports, egress }: AnalyzeResponseOptions,
): Promise<RunOutcome> => {
  if (!llm) return failure('NOT_CONFIGURED', WHAT_TO_SET);
  const asked = await contentOf(call, inputs, ports);
  if ('success' in asked) return asked;
  const extension_id = extensionOf(call, asked.tool_id);
  const prompt = buildPrompt({
    // The endpoint belongs to a third party, so it gets no secrets either.
    content: call.redact.text(asText(asked.content)),
    question: call.redact.text(questionOf(inputs)),
    usage_doc: extension_id === null ? null : await ports.usageDoc(extension_id),
    tool_id: asked.tool_id,
  });
  const answer = captureOutput('stdout', call);
  const domains = new Set<string>();
  let usage: Usage | undefined;
  const facts = () => ({ ...(usage && costOf(llm, usage)), observed: { domains: [...domains] } });
  const encoder = new TextEncoder();
  try {
    const completion = await complete({
      egress,
      settings: llm,
      prompt,
      // The operator configured the endpoint, so it may have a private address.
      rules: { ...networkOf(call), deny_private_ips: false },
      signal: call.signal,
      onText: (text) => answer.write(encoder.encode(text.toWellFormed())),
      onUsage: (known) => {
        usage = known;
      },
      onDomain: (domain) => domains.add(domain),
    });
    const { text, truncated } = answer.end();
    return {
      success: true,
      payload: {
        answer: text,
        model: completion.model,
        stop_reason: completion.stop_reason,
        source: asked.tool_id === null ? 'content' : LAST,
        content_cut: prompt.cut,
      },
      truncated,
      facts: facts(),
    };
  } catch (error) {
    if (call.signal.aborted) return { ...failure('CANCELED', 'stopped'), facts: facts() };
    if (!(error instanceof Failure)) throw error;
    return { ...failure(error.kind, error.message, error.retryable), facts: facts() };
  }
};

const networkOf = ({ limits }: Call) => ({
  ...(limits.network === undefined ? {} : { network: limits.network }),
  ...(limits.deny_domains === undefined ? {} : { deny_domains: limits.deny_domains }),
});

type Asked = { content: Json; tool_id: string | null };

const contentOf = async (call: Call, { content }: JsonObject, ports: AnalyzePorts): Promise<Asked | ToolFailure> => {
  if (content !== undefined && content !== null && content !== LAST) return { content, tool_id: null };
  if (call.session_id === null)
    return failure(
      'INVALID_INPUTS',
      'there is nothing to analyze: give content, or a session_id whose last response to take',
    );
  const last = await ports.lastResponse(call.tenant, call.session_id);
  return (
    last ??
    failure(
      'INVALID_INPUTS',
      `the session ${call.session_id} has no response yet: give content, or run a tool in it first`,
    )
  );
};

/** The question, from its field or from the words after a slash command. */
const questionOf = ({ question, args }: JsonObject): string => {
  if (typeof question === 'string' && question.trim() !== '') return question;
  const words = Array.isArray(args) ? args.filter((word) => typeof word === 'string' && word !== LAST) : [];
  return words.length > 0 ? words.join(' ') : DEFAULT_QUESTION;
};

/** The extension whose action this is, or else the one whose result it analyzes. */
const extensionOf = ({ descriptor }: Call, tool_id: string | null): string | null => {
  if ('extension_id' in descriptor.binding) return descriptor.binding.extension_id;
  const [source, extension_id] = tool_id?.split(':') ?? [];
  return source === 'ext' && extension_id !== undefined ? extension_id : null;
};

const costOf = (llm: LlmSettings, { input_tokens, output_tokens }: Usage) => ({
  usage: { input_tokens, output_tokens },
  cost_units: (input_tokens * llm.input_cost + output_tokens * llm.output_cost) / 1000,
});

const failure = (kind: ToolFailure['kind'], error: string, retryable = false): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable,
});

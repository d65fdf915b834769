/** The endpoint of a language model, as the operator configured it. */
export type LlmSettings = {
  provider: 'openai' | 'anthropic';
  base_url: string;
  model: string;
  api_key?: string | undefined;
  max_tokens: number;
  /** Cost units per thousand tokens. */
  input_cost: number;
  output_cost: number;
};

const BASE_URLS = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' };

export type LlmEnv = {
  CAPSTAN_LLM_PROVIDER?: 'openai' | 'anthropic' | undefined;
  CAPSTAN_LLM_BASE_URL?: string | undefined;
  CAPSTAN_LLM_MODEL?: string | undefined;
  CAPSTAN_LLM_API_KEY?: string | undefined;
  CAPSTAN_LLM_MAX_TOKENS?: number | undefined;
  CAPSTAN_LLM_INPUT_COST?: number | undefined;
  CAPSTAN_LLM_OUTPUT_COST?: number | undefined;
};

/** Undefined if no model is configured. analyze.response then says what to set. */
export const llmSettings = (env: LlmEnv): LlmSettings | undefined => {
  const provider = env.CAPSTAN_LLM_PROVIDER ?? 'openai';
  if (env.CAPSTAN_LLM_MODEL === undefined) return undefined;
  if (env.CAPSTAN_LLM_BASE_URL === undefined && env.CAPSTAN_LLM_API_KEY === undefined) return undefined;
  return {
    provider,
    base_url: (env.CAPSTAN_LLM_BASE_URL ?? BASE_URLS[provider]).replace(/\/+$/, ''),
    model: env.CAPSTAN_LLM_MODEL,
    api_key: env.CAPSTAN_LLM_API_KEY,
    max_tokens: env.CAPSTAN_LLM_MAX_TOKENS ?? 4096,
    input_cost: env.CAPSTAN_LLM_INPUT_COST ?? 1,
    output_cost: env.CAPSTAN_LLM_OUTPUT_COST ?? 1,
  };
};

export const WHAT_TO_SET =
  'No language model is set up on this worker. Set CAPSTAN_LLM_MODEL and CAPSTAN_LLM_API_KEY; CAPSTAN_LLM_PROVIDER is openai or anthropic, and CAPSTAN_LLM_BASE_URL names another endpoint of the same format, such as http://127.0.0.1:11434/v1.';

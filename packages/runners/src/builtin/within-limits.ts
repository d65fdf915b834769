import { cutText } from '../cut-text.js';
import type { Call, RunOutcome } from '../runner.js';

/** Of an answer that is too large, the beginning of its text. Redacted before it is cut: half a secret is not found any more. */
export const withinLimits = (outcome: RunOutcome, { limits, redact }: Pick<Call, 'limits' | 'redact'>): RunOutcome => {
  const text = JSON.stringify(redact.json(outcome.payload ?? null));
  const { kept, truncated } = cutText(text, limits.max_output_bytes);
  return truncated ? { ...outcome, payload: kept, truncated } : outcome;
};

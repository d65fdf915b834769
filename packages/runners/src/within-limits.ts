import { cutText } from './cut-text.js';
import type { Call, RunOutcome } from './runner.js';

/**
 * Truncates an outcome that is too large to the beginning of its text. Redacted before it is truncated, because half a secret would not be
 * recognized.
 */
export function withinLimits(outcome: RunOutcome, { limits, redact }: Pick<Call, 'limits' | 'redact'>): RunOutcome {
  const most = limits.max_output_bytes;
  const { payload = null } = outcome;
  const short = { ...outcome };
  if (mayExceed(JSON.stringify(payload), most)) {
    const { kept, truncated } = cutText(JSON.stringify(redact.json(payload)), most);
    if (truncated) Object.assign(short, { payload: kept, truncated });
  }
  if (!short.success && mayExceed(short.error, most)) short.error = cutText(redact.text(short.error), most).kept;
  return short;
}

/** A character is up to three bytes, and redaction may make a text longer. */
const mayExceed = (text: string, bytes: number): boolean => text.length * 4 > bytes;

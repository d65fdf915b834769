import { visibleLine } from '@capstan/contracts/visible-text';
import type { Output } from '../output.js';

export type FailureText = {
  headline: string;
  code?: number | null | undefined;
  suggestion?: string | null | undefined;
  /** What else helps to find it: ids, the place in a file. */
  context?: readonly string[];
};

/** What went wrong, its code, and what to do about it. */
export const formatFailure = (
  { headline, code, suggestion, context = [] }: FailureText,
  { colors }: Output,
): string => {
  const facts = [...(code ? [`code ${code}`] : []), ...context].map(visibleLine);
  return [
    `${colors.red('✗')} ${headline.trimEnd().split('\n').map(visibleLine).join('\n  ')}`,
    ...(facts.length > 0 ? [`  ${colors.dim(facts.join(' · '))}`] : []),
    ...(suggestion ? [`  ${colors.cyan('→')} ${suggestion.split('\n').map(visibleLine).join('\n    ')}`] : []),
  ].join('\n');
};

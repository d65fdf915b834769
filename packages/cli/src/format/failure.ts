import { visibleLine } from '@capstan/contracts/visible-text';
import type { Output } from '../output.js';
import { wrapProse } from './width.js';

export type FailureText = {
  headline: string;
  code?: number | null | undefined;
  suggestion?: string | null | undefined;
  /** Additional context: ids, the place in a file. */
  context?: readonly string[];
};

/** Formats an error with its code and suggestion. */
export const formatFailure = ({ headline, code, suggestion, context = [] }: FailureText, out: Output): string => {
  const { colors } = out;
  const lines = (text: string) => text.split('\n').map(visibleLine).join('\n');
  const facts = [...(code ? [`code ${code}`] : []), ...context].map(visibleLine);
  return [
    `${colors.red('✗')} ${wrapProse(lines(headline.trimEnd()), 2, out)}`,
    ...(facts.length > 0 ? [`  ${colors.dim(facts.join(' · '))}`] : []),
    ...(suggestion ? [`  ${colors.cyan('→')} ${wrapProse(lines(suggestion), 4, out)}`] : []),
  ].join('\n');
};

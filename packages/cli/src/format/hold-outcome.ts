import type { Hold } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Colors } from '../output.js';
import { countOf } from './count.js';
import { holdInALine, paintHold } from './hold.js';

/** The outcome of an action on a hold and the next step, on a line each. */
export const formatHoldOutcome = (hold: Hold, colors: Colors): string =>
  [
    `${paintHold(hold, holdInALine(hold), colors)}  ${colors.dim(visibleLine(hold.tool_id))}`,
    `  ${colors.cyan('→')} ${nextOf(hold)}`,
  ].join('\n');

const nextOf = ({ status, hold_id, invocation_id, approvals: { given, required } }: Hold): string => {
  if (status === 'pending')
    return `${given} of ${countOf(required, 'vote')}; it waits for others: capstan holds ${hold_id}`;
  return status === 'released'
    ? `It runs: capstan logs -f ${invocation_id}`
    : `It does not run: capstan show ${invocation_id}`;
};

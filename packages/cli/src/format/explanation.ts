import type { Approvals, Explanation, Limits, RuleLook } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Output } from '../output.js';
import { formatDuration } from './duration.js';
import { type Field, formatFields } from './fields.js';
import { formatTable } from './table.js';
import { wrapProse } from './width.js';

const LOOK = {
  allow: ['✓', 'allowed', 'green'],
  hold: ['⏸', 'held', 'yellow'],
  deny: ['⊘', 'denied', 'magenta'],
} as const;

/** Formats a decision: the verdict, its reason, every rule, and a suggestion. */
export const formatExplanation = (tool_id: string, explanation: Explanation, out: Output): string[] => {
  const { colors } = out;
  const { effect, reason, rule_matched, code, approvals, limits, rules = [], suggestion } = explanation;
  const { decided_by, lowered } = explanation;
  const [icon, word, paint] = LOOK[effect];
  // Colors have no width, so they come after wrapping.
  const headline = (verdict: string, tool: string, why: string): string =>
    wrapProse(`${verdict}  ${tool}  ${why}`, 2, out).replace(
      `${verdict}  ${tool}`,
      () => `${colors[paint](verdict)}  ${colors.bold(tool)}`,
    );
  const fields: Field[] = [
    ['decided by', rule_matched === null ? null : `${visibleLine(rule_matched)}${whose(decided_by)}`],
    ['code', code],
    ['needs', approvals && formatApprovals(approvals)],
    ['limits', effect === 'deny' ? null : formatLimits(limits)],
    ['lowered', lowered && effect !== 'deny' ? `${lowered.join(', ')}, by the policy of the installation` : null],
  ];
  return [
    headline([icon, word].join(' '), visibleLine(tool_id), visibleLine(reason)),
    ...formatFields(fields, out),
    ...(rules.length > 0 ? ['', ...formatRules(rules, out)] : []),
    ...(suggestion
      ? ['', `${colors.cyan('→')} ${wrapProse(suggestion.split('\n').map(visibleLine).join('\n'), 2, out)}`]
      : []),
  ];
};

const whose = (part: Explanation['decided_by']): string => (part === 'installation' ? ' (installation)' : '');

const formatRules = (rules: readonly RuleLook[], { colors, tty, columns }: Output): string[] =>
  formatTable(
    [
      { title: ' ', text: ({ matched }) => (matched ? '✓' : '·') },
      { title: 'RULE', text: ({ id, of }) => `${id}${whose(of)}` },
      { title: 'WHY', text: ({ why }) => why, shrinks: true },
    ],
    rules,
    { colors, columns: tty ? columns : null },
  );

const formatApprovals = ({
  required = 1,
  roles,
  actors,
  allow_self,
  expires_in_ms,
  revote_on_edit,
}: Approvals): string =>
  [
    `${required} ${required === 1 ? 'person' : 'people'}`,
    ...(roles ? [`with ${roles.join(' and ')}`] : []),
    ...(actors ? [`of ${actors.join(', ') || 'nobody'}`] : []),
    ...(allow_self ? [] : ['not who submits']),
    ...(expires_in_ms === undefined ? [] : [`within ${formatDuration(expires_in_ms)}`]),
    ...(revote_on_edit ? ['all anew when inputs are changed'] : []),
  ].join(', ');

/** Rules for the arguments of programs are named by their program. */
const nameOf = (entry: string | object): string => (typeof entry === 'string' ? entry : Object.keys(entry).join(', '));

const formatLimits = ({ timeout_ms, ...rest }: Limits): string =>
  [
    `timeout ${formatDuration(timeout_ms)}`,
    ...Object.entries(rest).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} ${Array.isArray(value) ? `[${value.map(nameOf).join(', ')}]` : value}`],
    ),
  ]
    .map(visibleLine)
    .join(', ');
